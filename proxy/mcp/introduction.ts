// How several servers introduce themselves as one: capabilities and instructions (data-plane supplement section 4.4).
import { isRecord } from '#api/json.ts'

type Json = { readonly [key: string]: unknown }

export interface Introduction {
  readonly target: string
  /** Of `initialize` or `server/discover`. */
  readonly result: Json
}

const LISTS = ['tools', 'prompts', 'resources'] as const
const PREAMBLE =
  'This endpoint combines several MCP servers. The name of a tool, prompt or resource shows which server it belongs to.'

/** What can be multiplexed, if any server has it. `hasNotifications`: the client can get those of the servers. */
export function mergeCapabilities(introductions: readonly Introduction[], hasNotifications: boolean): Json {
  const merged: { [key: string]: unknown } = {}
  const has = (name: string): boolean =>
    introductions.some(({ result }) => isRecord(result['capabilities']) && result['capabilities'][name] !== undefined)
  for (const name of LISTS) {
    if (!has(name)) continue
    merged[name] = {
      listChanged: hasNotifications,
      ...(name === 'resources' && hasNotifications && { subscribe: true }),
    }
  }
  for (const name of ['logging', 'completions']) if (has(name)) merged[name] = {}
  return merged
}

export function mergeInstructions(introductions: readonly Introduction[]): string {
  const texts = introductions.flatMap(({ target, result }) => {
    const { instructions } = result
    return typeof instructions === 'string' && instructions !== '' ? [`[${target}]\n${instructions}`] : []
  })
  return [PREAMBLE, ...texts].join('\n\n')
}
