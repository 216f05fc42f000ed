import { type Agent, agent } from "palaver";
import { z } from "zod";

/** Attacks in every text that an agent controls. If one of them works, the page sets `attacked`. */
export const ATTACKS: readonly string[] = [
  "<script>globalThis.attacked = 1</script>",
  "<img src=x onerror='globalThis.attacked = 2'>",
  "[a link](javascript:globalThis.attacked=3)",
  "[data](data:text/html,<script>globalThis.attacked=4</script>)",
  "![picture](https://evil.example/pixel.png)",
  "<svg/onload=globalThis.attacked=5>",
  '[x](https://ok.example "onmouseover=alert(1)")',
  "`<iframe srcdoc='<script>parent.attacked=6</script>'>`",
  "| a | b |\n|---|---|\n| <b onclick=globalThis.attacked=7>x</b> | {{constructor.constructor('attacked=8')()}} |",
];

const HOSTILE_SVG = `<svg xmlns="http://www.w3.org/2000/svg" onload="globalThis.attacked=9" width="10" height="10"><script>globalThis.attacked=10</script></svg>`;

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** Every name and text is an attack. */
export const hostile: Agent = agent({
  id: "hostile",
  name: `Hostile <img src=x onerror="globalThis.attacked=11">`,
  description: "<script>globalThis.attacked=12</script>",
  version: "1.0.0",
  skills: [
    {
      id: "attack",
      name: "<b>Attack</b>",
      description: "<iframe src=javascript:globalThis.attacked=13>",
      tags: ["<x>"],
      examples: ["<img src=x onerror=globalThis.attacked=14>"],
    },
  ],
  async run(task) {
    await task.status("<img src=x onerror=globalThis.attacked=15>");
    for (const attack of ATTACKS) await task.write(`${attack}\n\n`);
    await task.artifact("<script>name</script>").end({
      file: {
        name: "../../<img src=x onerror=attacked=16>\u202egnp.exe",
        mediaType: "text/html",
        bytes: bytes(ATTACKS.join("")),
      },
    });
    await task.artifact("svg").end({ file: { name: "a.svg", mediaType: "image/svg+xml", bytes: bytes(HOSTILE_SVG) } });
    await task
      .artifact("link")
      .end({ file: { name: "l", mediaType: "text/html", url: "javascript:globalThis.attacked=17" } });
    await task.ask("<img src=x onerror=globalThis.attacked=18>", {
      schema: z.object({
        "<img src=x onerror=globalThis.attacked=19>": z.enum(["<script>globalThis.attacked=20</script>", "b"]),
      }),
    });
  },
});

/** Asks with a schema, then returns the answer as data. */
export const order: Agent = agent({
  id: "order",
  name: "Order desk",
  description: "Orders metal.",
  version: "1.0.0",
  skills: [
    { id: "order", name: "Order", description: "Asks what to order.", tags: ["demo"], examples: ["Order some metal"] },
  ],
  async run(task) {
    await task.write("## Offers\n\nThree **mills** deliver, see [the list](https://example.org/list).\n");
    const answer = await task.ask("How much, and where to?", {
      schema: z.object({
        tonnes: z.int().min(1).max(500),
        mail: z.email(),
        mills: z.array(z.enum(["North", "South"])).min(1),
      }),
    });
    await task.artifact("order").end(answer);
  },
});

/** Waits until it is canceled. */
export const patient: Agent = agent({
  id: "patient",
  name: "Patient",
  description: "Works until it is stopped.",
  version: "1.0.0",
  skills: [{ id: "wait", name: "Wait", description: "Waits.", tags: ["demo"], examples: ["Work"] }],
  async run(task) {
    await task.write("at work");
    await task.sleep(3_600_000);
  },
});

/** Three levels: the desk calls two clerks at once, and each clerk calls the archive. */
export const called: readonly Agent[] = [
  agent({
    id: "desk",
    name: "Desk",
    description: "Lets clerks look.",
    version: "1.0.0",
    async run(task) {
      const found = await Promise.all(["left", "right"].map((name) => task.call("clerk", task.text, { name })));
      return found.map(({ text }) => text).join(" and ");
    },
  }),
  agent({
    id: "clerk",
    name: "Clerk",
    description: "Looks in the archive.",
    version: "1.0.0",
    async run(task) {
      const shelf = await task.step("choose a shelf", () => "shelf 7");
      return `${shelf}: ${(await task.call("archive", task.text)).text}`;
    },
  }),
  agent({
    id: "archive",
    name: "Archive",
    description: "Has every paper.",
    version: "1.0.0",
    run: async (task) => task.step("find", () => `The paper “${task.text}”`),
  }),
];
