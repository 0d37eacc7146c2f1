// How several servers introduce themselves as one: capabilities and instructions (data-plane supplement section 4.4).
import { LISTS } from './subscription.ts'
import { isRecord, recordOf, type JsonRecord } from '#api/json.ts'

export interface Introduction {
  readonly target: string
  /** Of `initialize` or `server/discover`. */
  readonly result: JsonRecord
}

const TRANSLATED_EXTENSIONS = ['io.modelcontextprotocol/tasks', 'io.modelcontextprotocol/ui']
const PREAMBLE =
  'This endpoint combines several MCP servers. The name of a tool, prompt or resource shows which server it belongs to.'

/** What can be multiplexed, if any server has it. `hasNotifications`: the client can get those of the servers. */
export function mergeCapabilities(introductions: readonly Introduction[], hasNotifications: boolean): JsonRecord {
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

/** Every operation on tasks that any server has (MCP 2025-11-25); undefined: none has tasks. */
export function mergeTasks(introductions: readonly Introduction[]): JsonRecord | undefined {
  const all = introductions
    .map(({ result }) => recordOf(result['capabilities'])['tasks'])
    .filter((tasks) => isRecord(tasks))
  return all.length === 0 ? undefined : all.reduce((merged, tasks) => union(merged, tasks), {})
}

/** Capabilities are records of records. */
function union(a: JsonRecord, b: JsonRecord): JsonRecord {
  const merged: { [key: string]: unknown } = { ...a }
  for (const [name, value] of Object.entries(b)) {
    const other = Object.hasOwn(a, name) ? a[name] : undefined
    merged[name] = isRecord(other) && isRecord(value) ? union(other, value) : value
  }
  return merged
}

/** Extensions of MCP 2026-07-28 whose names the gateway translates, if any server has them. */
export function mergeExtensions(introductions: readonly Introduction[]): JsonRecord {
  const extensions: { [key: string]: unknown } = {}
  for (const { result } of introductions) {
    const own = recordOf(recordOf(result['capabilities'])['extensions'])
    for (const name of TRANSLATED_EXTENSIONS) if (Object.hasOwn(own, name)) extensions[name] ??= own[name]
  }
  return Object.keys(extensions).length === 0 ? {} : { extensions }
}

export function mergeInstructions(introductions: readonly Introduction[]): string {
  const texts = introductions.flatMap(({ target, result }) => {
    const { instructions } = result
    return typeof instructions === 'string' && instructions !== '' ? [`[${target}]\n${instructions}`] : []
  })
  return [PREAMBLE, ...texts].join('\n\n')
}
