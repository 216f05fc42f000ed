/** An MCP server: a program on this machine that speaks MCP over its standard input and output, or an address. */
export type McpServerAddress =
  | {
      readonly command: string;
      readonly args?: readonly string[];
      /** Added to a small safe part of this process's environment. */
      readonly env?: Readonly<Record<string, string>>;
      readonly cwd?: string;
      readonly url?: never;
    }
  | {
      readonly url: string | URL;
      /** Sent with each request, for example `authorization`. */
      readonly headers?: Readonly<Record<string, string>>;
      readonly command?: never;
    };
