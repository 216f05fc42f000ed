import { agent } from "palaver";

export default agent({
  name: "Greeter",
  description: "Greets a person, formally or warmly.",
  version: "0.0.1",
  skills: [{ id: "greet", name: "Greet", description: "Says hello.", tags: ["greeting"], examples: ["Ada"] }],
  async *run(task) {
    await task.status("Thinking of something nice to say");
    const style = await task.ask(`Shall I greet ${task.text} formally or warmly?`);
    const words = /formal/i.test(style) ? ["Good day, ", task.text, "."] : ["Hello, dear ", task.text, "!"];
    for (const word of words) yield word;
  },
});
