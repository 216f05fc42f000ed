import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";
import { PICTURE, type Records, text, untilCanceled } from "./records.ts";

/** A server of the revision 2025-11-25, written with the official SDK of that time. */
export function createServer2025(records: Records): McpServer {
  const server = new McpServer(
    { name: "town", title: "Town Services", version: "2.1" },
    { capabilities: { tools: { listChanged: true } }, instructions: "Services of a town." },
  );
  server.registerTool(
    "add",
    {
      description: "Adds two numbers.",
      inputSchema: { a: z.number(), b: z.number() },
      outputSchema: { sum: z.number() },
      annotations: { readOnlyHint: true },
    },
    async ({ a, b }, { _meta }) => {
      records.calls.push("add");
      records.traces.push(_meta?.["traceparent"]);
      return { ...text(JSON.stringify({ sum: a + b })), structuredContent: { sum: a + b } };
    },
  );
  server.registerTool(
    "book_table",
    { description: "Books a table.", inputSchema: { restaurant: z.string() } },
    async ({ restaurant }) => {
      const { action, content } = await server.server.elicitInput({
        message: "For how many guests?",
        requestedSchema: {
          type: "object",
          properties: { guests: { type: "integer", minimum: 1 } },
          required: ["guests"],
        },
      });
      if (action !== "accept") return text("Nothing was booked.");
      records.calls.push("book_table");
      return text(`Booked a table at ${restaurant} for ${String(content?.["guests"])}.`);
    },
  );
  server.registerTool("login", { description: "Needs a login." }, async () => {
    const { action } = await server.server.elicitInput({
      ...{ mode: "url", message: "Please log in.", url: "https://login.example/x", elicitationId: "e1" },
    });
    return text(action === "accept" ? "Logged in." : "Not logged in.");
  });
  server.registerTool("report", { description: "Reports its progress." }, async ({ _meta, sendNotification }) => {
    const progressToken = _meta?.progressToken ?? "";
    const params = { progressToken, progress: 1, total: 2, message: "Half done" };
    await sendNotification({ method: "notifications/progress", params });
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
  server.registerTool("wait", { description: "Never ends." }, ({ signal }) => {
    records.calls.push("wait");
    return untilCanceled(signal, records);
  });
  server.registerTool("pay", { description: "Pays.", annotations: { destructiveHint: true } }, async () => {
    records.calls.push("pay");
    return text("Paid.");
  });
  server.registerTool("github_list_prs", { description: "Pull requests." }, async () => text("None."));
  server.registerTool("crash", { description: "Ends the program." }, () => process.exit(3));
  return server;
}
