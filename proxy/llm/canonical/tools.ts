// Tools of a request and the choice among them, for formats that cannot list the allowed ones apart.
import { Untranslatable } from '../translate/untranslatable.ts'
import type { ChatRequest, Tool, ToolChoice } from './request.ts'

/** The tools that the model may call. @throws {Untranslatable} if the choice and the tools contradict each other. */
export function callableTools({ tools, toolChoice }: ChatRequest): readonly Tool[] {
  const choice = toolChoice?.value
  const allowed = choice === undefined || choice.mode === 'tool' ? undefined : choice.allowed
  const callable = allowed === undefined ? tools : tools.filter(({ name }) => allowed.has(name))
  if (allowed !== undefined && callable.length < allowed.size) {
    throw new Untranslatable(`${toolChoice?.at} names a tool that is not in tools`)
  }
  if (callable.length === 0 && isForced(choice)) {
    throw new Untranslatable(`${toolChoice?.at} requires a tool, but tools is empty`)
  }
  return callable
}

function isForced(choice: ToolChoice | undefined): boolean {
  return choice?.mode === 'required' || choice?.mode === 'tool'
}
