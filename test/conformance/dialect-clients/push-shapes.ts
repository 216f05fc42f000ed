import type { Fields, Webhook, Webhooks } from "../neutral.ts";
import { asList, asObject, asText, asTexts, listOf, maybe, objectWith, wrong } from "../strict.ts";

/** A webhook with only a URL, if a string is given. */
export function asWebhook(webhook: Webhook | string): Webhook {
  return typeof webhook === "string" ? { url: webhook } : webhook;
}

/** The format of all versions before 1.0, below the task id. */
export function writeWebhook(webhook: Webhook | string): Fields {
  return { ...asWebhook(webhook) };
}

/** One flat object with one scheme. */
export function writeFlatWebhook(webhook: Webhook | string): Fields {
  const { authentication, ...rest } = asWebhook(webhook);
  if (authentication === undefined) return rest;
  const { schemes, ...credentials } = authentication;
  return { ...rest, authentication: { scheme: schemes[0], ...credentials } };
}

export function readFlatWebhook(value: unknown, taskId: string): Webhook {
  const fields = objectWith(value, "config", {
    required: ["id", "taskId", "url"],
    optional: ["token", "authentication"],
  });
  if (fields["taskId"] !== taskId) wrong("config.taskId", "is not that of the task", fields);
  return {
    ...commonOf(fields),
    id: asText(fields["id"], "config.id"),
    ...maybe(fields, "authentication", (authentication, path) => {
      const { scheme, ...rest } = objectWith(authentication, path, { required: ["scheme"], optional: ["credentials"] });
      return { schemes: [asText(scheme, `${path}.scheme`)], ...maybe(rest, "credentials", asText) };
    }),
  };
}

/** Reads the content of `pushNotificationConfig`; `more` are additional members of this format. */
export function readWebhook(value: unknown, ...more: readonly ("id" | "headers" | "events")[]): Webhook {
  const fields = objectWith(value, "pushNotificationConfig", {
    required: ["url", ...more.filter((name) => name === "id")],
    optional: ["token", "authentication", ...more],
  });
  return {
    ...commonOf(fields),
    ...maybe(fields, "id", asText),
    ...maybe(fields, "authentication", (authentication, path) => {
      const rest = objectWith(authentication, path, { required: ["schemes"], optional: ["credentials"] });
      return { schemes: asTexts(rest["schemes"], `${path}.schemes`), ...maybe(rest, "credentials", asText) };
    }),
    ...maybe(fields, "headers", (headers, path) =>
      Object.fromEntries(
        Object.entries(asObject(headers, path)).map(([name, text]) => [name, asText(text, `${path}.${name}`)]),
      ),
    ),
    ...maybe(fields, "events", listOf(readEventKind)),
  };
}

/** Reads a list below `configs`, with a token for the next page. */
export function readWebhookPage(value: unknown, read: (each: unknown) => Webhook): Webhooks {
  const { configs, nextPageToken } = objectWith(value, "list", { required: ["configs", "nextPageToken"] });
  return {
    webhooks: asList(configs, "configs").map(read),
    nextPageToken: asText(nextPageToken, "nextPageToken"),
  };
}

function readEventKind(value: unknown, path: string): "status" | "artifact" {
  return value === "status" || value === "artifact" ? value : wrong(path, "is no kind of event", value);
}

function commonOf(fields: Fields): Pick<Webhook, "url" | "token"> {
  return { url: asText(fields["url"], "url"), ...maybe(fields, "token", asText) };
}

/** Checks that the result is empty. */
export function readNothing(value: unknown): undefined {
  return value === null ? undefined : wrong("result", "must be null", value);
}

/** Checks that the body is empty. */
export function readEmpty(value: unknown): undefined {
  objectWith(value, "body", {});
  return undefined;
}
