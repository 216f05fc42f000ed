import { acceptedContent, inputRequired, inputResponse, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

/** A tool answers with a text. */
function text(words: string) {
  return { content: [{ type: "text" as const, text: words }] };
}

/** Your MCP server: any program, in any language, that speaks the Model Context Protocol. */
function createTools(): McpServer {
  const server = new McpServer({ name: "town", title: "Town", version: "0.0.1" }, { instructions: "Restaurants." });
  server.registerTool(
    "opening_hours",
    {
      description: "When a place is open.",
      inputSchema: z.object({ place: z.string() }),
      // May be called again if the server dies meanwhile.
      annotations: { readOnlyHint: true },
    },
    async ({ place }) => text(`${place} is open from 18:00 to 23:00.`),
  );
  server.registerTool(
    "book_table",
    { description: "Books a table.", inputSchema: z.object({ restaurant: z.string(), time: z.string() }) },
    async ({ restaurant, time }, { mcpReq }) => {
      if (inputResponse(mcpReq.inputResponses, "guests").kind === "missing")
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
        });
      const answer = acceptedContent<{ guests: number }>(mcpReq.inputResponses, "guests");
      if (answer === undefined) return text("Nothing was booked.");
      return text(`Booked a table for ${answer.guests} at ${restaurant}, ${time}.`);
    },
  );
  return server;
}

serveStdio(createTools);
