import { agent } from "palaver";

export default agent({
  name: "Greeter",
  description: "Greets a person by name, word by word.",
  version: "1.0.0",
  skills: [{ id: "greet", name: "Greet", description: "Says hello.", tags: ["greeting"], examples: ["Ada"] }],
  async *run(task) {
    await task.status("Thinking of something nice to say");
    for (const word of ["Hello, ", task.text, "!"]) yield word;
  },
});
