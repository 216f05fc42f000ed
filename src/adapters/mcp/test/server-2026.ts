import { acceptedContent, inputRequired, inputResponse, McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { PICTURE, type Records, text, untilCanceled } from "./records.ts";

/** A server of the revision 2026-07-28, written with the official SDK. `more` is the name of a further tool. */
export function createServer2026(records: Records, more?: string): McpServer {
  const server = new McpServer(
    { name: "town", title: "Town Services", version: "2.1" },
    { capabilities: { tools: { listChanged: true }, prompts: {}, resources: {} }, instructions: "Services of a town." },
  );
  server.registerTool(
    "add",
    {
      description: "Adds two numbers.",
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      outputSchema: z.object({ sum: z.number() }),
      annotations: { readOnlyHint: true },
    },
    async ({ a, b }, ctx) => {
      records.calls.push("add");
      records.traces.push(ctx.mcpReq._meta?.["traceparent"]);
      return { ...text(JSON.stringify({ sum: a + b })), structuredContent: { sum: a + b } };
    },
  );
  server.registerTool(
    "book_table",
    { description: "Books a table.", inputSchema: z.object({ restaurant: z.string() }) },
    async ({ restaurant }, ctx) => {
      const answer = inputResponse(ctx.mcpReq.inputResponses, "guests");
      const state = ctx.mcpReq.requestState();
      if (answer.kind === "missing") {
        return inputRequired({
          inputRequests: {
            guests: inputRequired.elicit({
              message: "For how many guests?",
              requestedSchema: {
                type: "object",
                properties: { guests: { type: "integer", minimum: 1 } },
                required: ["guests"],
              },
            }),
          },
          requestState: `table at ${restaurant}`,
        });
      }
      const content = acceptedContent<{ guests: number }>(ctx.mcpReq.inputResponses, "guests");
      if (content === undefined) return text("Nothing was booked.");
      records.calls.push("book_table");
      return text(`Booked a ${String(state)} for ${content.guests}.`);
    },
  );
  server.registerTool("login", { description: "Needs a login." }, async (ctx) => {
    if (inputResponse(ctx.mcpReq.inputResponses, "login").kind === "missing")
      return inputRequired({
        inputRequests: {
          login: inputRequired.elicitUrl({ message: "Please log in.", url: "https://login.example/x" }),
        },
      });
    return text("Logged in.");
  });
  server.registerTool("report", { description: "Reports its progress." }, async (ctx) => {
    const progressToken = ctx.mcpReq._meta?.progressToken ?? "";
    const params = { progressToken, progress: 1, total: 2, message: "Half done" };
    await ctx.mcpReq.notify({ method: "notifications/progress", params });
    return text("Report.");
  });
  server.registerTool("picture", { description: "A picture." }, async () => ({
    content: [
      { type: "text", text: "Here" },
      { type: "image", data: PICTURE, mimeType: "image/png" },
      { type: "resource_link", uri: "https://town.example/map.pdf", name: "map.pdf", mimeType: "application/pdf" },
    ],
  }));
  server.registerTool("broken", { description: "Fails." }, async () => ({ ...text("no batteries"), isError: true }));
  server.registerTool("wait", { description: "Never ends." }, (ctx) => {
    records.calls.push("wait");
    return untilCanceled(ctx.mcpReq.signal, records);
  });
  server.registerTool("pay", { description: "Pays.", annotations: { destructiveHint: true } }, async () => {
    records.calls.push("pay");
    return text("Paid.");
  });
  server.registerTool("github_list_prs", { description: "Pull requests." }, async () => text("None."));
  server.registerTool("crash", { description: "Ends the program." }, () => process.exit(3));
  if (more !== undefined) server.registerTool(more, { description: "New." }, async () => text("New."));
  server.registerPrompt(
    "greeting",
    { description: "A greeting.", argsSchema: z.object({ name: z.string() }) },
    ({ name }) => ({ messages: [{ role: "user", content: { type: "text", text: `Greet ${name}.` } }] }),
  );
  server.registerResource("rules", "town://rules.txt", { description: "The rules." }, async () => ({
    contents: [{ uri: "town://rules.txt", mimeType: "text/plain", text: "Be kind." }],
  }));
  return server;
}
