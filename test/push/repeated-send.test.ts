import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { openTarget, sendParams } from "../security/attack-surface.ts";

it("an idempotent message that is sent twice notifies its webhook until the task ends", async () => {
  const bodies: string[] = [];
  const receiver = createHttpServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => {
      body += text;
    });
    request.on("end", () => {
      bodies.push(body);
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  const { port } = receiver.address() as AddressInfo;
  try {
    await using target = await openTarget({
      idempotency: { window: 60_000 },
      outgoing: { http: true, allow: [`127.0.0.1:${port}`] },
    });
    const params = {
      ...sendParams("ask", { messageId: "once" }),
      configuration: { taskPushNotificationConfig: { id: "hook", url: `http://127.0.0.1:${port}/` } },
    };
    const first = (await (await target.rpc("SendMessage", params)).json()) as { result: { task: { id: string } } };
    const { id } = first.result.task;
    await expect.poll(() => bodies.at(-1)).toContain("TASK_STATE_INPUT_REQUIRED");
    const again = await target.rpc("SendMessage", params);
    expect(await again.json()).toMatchObject({ result: { task: { id } } });
    expect(target.runs()).toBe(1);
    await (await target.rpc("SendMessage", sendParams("go on", { taskId: id }))).text();
    await expect.poll(() => bodies.at(-1), { timeout: 10_000 }).toContain("TASK_STATE_COMPLETED");
  } finally {
    receiver.closeAllConnections();
    receiver.close();
  }
});
