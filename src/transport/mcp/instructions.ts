/** For the model that uses the tools. */
export const INSTRUCTIONS =
  "Each tool is an agent or one of its skills. An agent may ask the user questions and may take long. To continue a conversation, pass the contextId of an earlier result.";
