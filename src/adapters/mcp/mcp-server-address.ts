/** An MCP server: a program on this machine that speaks MCP over its standard input and output, or an address. */
export type McpServerAddress = McpProgramAddress | McpUrlAddress;

/** A program that speaks MCP over its standard input and output. */
export interface McpProgramAddress {
  readonly command: string;
  readonly args?: readonly string[];
  /** Added to a small safe part of this process's environment. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly url?: never;
}

/** An MCP server at an address, over streamable HTTP. */
export interface McpUrlAddress {
  readonly url: string | URL;
  /** Sent with each request, for example `authorization`. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly command?: never;
}
