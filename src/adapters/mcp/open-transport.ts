import { randomUUID } from "node:crypto";
import type { Transport } from "@modelcontextprotocol/client";
import type { Logger } from "../../internal/logger.ts";
import { Children } from "../process/children/children.ts";
import { allowedVariables } from "../process/environment.ts";
import { processSettings } from "../process/process-options.ts";
import { createStderrLog } from "../process/stderr-log.ts";
import { limitedFetch } from "./connections/limited-fetch.ts";
import { ProgramTransport } from "./connections/program-transport.ts";
import type { McpProgramOptions, McpUrlOptions } from "./mcp-agent-options.ts";

/** Opens transports to one server. */
export interface TransportOpener {
  readonly open: () => Promise<Transport>;
  /** The server's programs; `undefined` for a server at an address. */
  readonly children: Children | undefined;
  /** For people: the host, or the name of the program. */
  readonly shown: string;
}

export interface OpenerOptions {
  readonly maxMessage: number;
  readonly logger: Logger;
}

/** Throws a `TypeError` for an invalid address or program. */
export function transportOpener(address: McpUrlOptions | McpProgramOptions, options: OpenerOptions): TransportOpener {
  return address.url === undefined ? programOpener(address, options) : urlOpener(address, options);
}

function urlOpener({ url, headers = {}, fetch: own }: McpUrlOptions, { maxMessage }: OpenerOptions): TransportOpener {
  const address = URL.parse(String(url));
  if (address === null || !/^https?:$/.test(address.protocol))
    throw new TypeError(`mcpAgent(): \`url\` ${JSON.stringify(String(url))} must be an address with http: or https:.`);
  // Called later, so that a replaced global `fetch` is used.
  const send = own ?? ((target: string | URL, init?: RequestInit) => fetch(target, init));
  return {
    shown: address.host,
    children: undefined,
    async open() {
      const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
      return new StreamableHTTPClientTransport(address, {
        requestInit: { headers: { ...headers } },
        fetch: limitedFetch(send, maxMessage),
      });
    },
  };
}

function programOpener(options: McpProgramOptions, { maxMessage, logger }: OpenerOptions): TransportOpener {
  const settings = processSettings(options, "mcpAgent()");
  const children = new Children(settings.stateFolder);
  const { program, args, cwd, grace } = settings;
  return {
    shown: options.command.slice(options.command.lastIndexOf("/") + 1),
    children,
    async open() {
      const { deserializeMessage } = await import("@modelcontextprotocol/client");
      const errors = createStderrLog(logger);
      return new ProgramTransport({
        start: () => children.start({ program, args, cwd, grace, env: allowedVariables(settings), run: randomUUID() }),
        maxMessage,
        parse: deserializeMessage,
        onErrorOutput: (chunk) => errors.add(chunk),
      });
    },
  };
}
