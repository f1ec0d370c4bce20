// Eidet's plugin for OpenCode: what was remembered goes into the system prompt, what was done is remembered.
// Written by `eidet integrate opencode`; `eidet integrate opencode --remove` takes it out.
import { spawn } from "node:child_process"

const PROMPT = PROMPT_COMMAND
const TURN = TURN_COMMAND
const LIMIT_MS = 300

// Runs a hook with an event; the text for the agent, or "" for nothing and for any fault.
const run = (command, event) =>
  new Promise((resolve) => {
    let out = ""
    try {
      const child = spawn(command[0], command.slice(1), { stdio: ["pipe", "pipe", "ignore"] })
      const timer = setTimeout(() => resolve(""), LIMIT_MS)
      child.on("error", () => resolve(""))
      child.stdin.on("error", () => {})
      child.stdout.on("data", (data) => (out += data))
      child.on("close", () => {
        clearTimeout(timer)
        try {
          resolve(out ? JSON.parse(out).additional_context : "")
        } catch {
          resolve("")
        }
      })
      child.stdin.end(JSON.stringify(event))
    } catch {
      resolve("")
    }
  })

export const Eidet = async ({ client, directory }) => {
  const told = new Map()
  const captured = new Map()
  return {
    "chat.message": async (input, output) => {
      const texts = output.parts.filter((part) => part.type === "text" && !part.synthetic)
      const prompt = texts.map((part) => part.text).join("\n")
      const context = await run(PROMPT, { session_id: input.sessionID, cwd: directory, prompt })
      if (context) told.set(input.sessionID, [...(told.get(input.sessionID) ?? []), context])
    },
    "experimental.chat.system.transform": async (input, output) => {
      output.system.push(...(told.get(input.sessionID) ?? []))
    },
    event: async ({ event }) => {
      if (event.type !== "session.idle") return
      const id = event.properties.sessionID
      const { data } = await client.session.messages({ path: { id } })
      const messages = (data ?? []).slice(captured.get(id) ?? 0)
      captured.set(id, (data ?? []).length)
      if (messages.length) await run(TURN, { session_id: id, cwd: directory, messages })
    },
  }
}
