// kubectl for the tests, with deadlines. It does not depend on the tests.
import { execFile, type ExecFileException } from 'node:child_process'
import { promisify } from 'node:util'
import { setTimeout as delay } from 'node:timers/promises'

const COMMAND_MS = 180_000
const POLL_MS = 250

export interface KubeObject {
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly uid: string
    readonly generation?: number
    readonly labels?: Readonly<Record<string, string>>
    readonly ownerReferences?: readonly { readonly kind: string; readonly name: string }[]
  }
  // Objects of many kinds: each test has its own expectation.
  readonly spec?: Record<string, unknown>
  readonly status?: Record<string, unknown>
}

export interface Condition {
  readonly type: string
  readonly status: string
  readonly reason: string
  readonly message: string
}

/** Standard output. @throws with standard error when it fails. */
export async function kubectl(args: readonly string[], input?: string): Promise<string> {
  const child = promisify(execFile)('kubectl', args, { timeout: COMMAND_MS, maxBuffer: 64 * 1024 * 1024 })
  if (input !== undefined) child.child.stdin?.end(input)
  try {
    return (await child).stdout
  } catch (error) {
    const { stderr, stdout } = error as ExecFileException // execFile throws it
    throw new Error(`kubectl ${args.join(' ')}: ${stderr ?? ''}${stdout ?? ''}`, { cause: error })
  }
}

export async function apply(...files: readonly string[]): Promise<void> {
  await kubectl(['apply', '--server-side', '--force-conflicts', ...files.flatMap((file) => ['-f', file])])
}

export async function applyObject(object: unknown): Promise<void> {
  await kubectl(['apply', '--server-side', '--force-conflicts', '-f', '-'], JSON.stringify(object))
}

export async function remove(...files: readonly string[]): Promise<void> {
  await kubectl(['delete', '--ignore-not-found', '--wait', ...files.flatMap((file) => ['-f', file])])
}

/** `get('pods', '-n', 'demo', '-l', 'app=x')`. */
export async function list(...args: readonly string[]): Promise<KubeObject[]> {
  const text = await kubectl(['get', ...args, '-o', 'json'])
  return (JSON.parse(text) as { items: KubeObject[] }).items // the API server's answer
}

export async function get(kind: string, namespace: string, name: string): Promise<KubeObject | undefined> {
  const text = await kubectl(['get', kind, '-n', namespace, name, '--ignore-not-found', '-o', 'json'])
  return text.trim() === '' ? undefined : (JSON.parse(text) as KubeObject) // the API server's answer
}

/** Repeats the call until its result is not undefined. @throws {Error} with the expected state and the last failure */
export async function waitFor<T>(what: string, ask: () => Promise<T | undefined>, withinMs = 60_000): Promise<T> {
  const end = performance.now() + withinMs
  let last = ''
  do {
    try {
      const value = await ask()
      if (value !== undefined) return value
    } catch (error) {
      last = `: ${String(error)}`
    }
    await delay(POLL_MS)
  } while (performance.now() < end)
  throw new Error(`not within ${withinMs / 1000} s: ${what}${last}`)
}

export function conditionOf(object: KubeObject | undefined, type: string): Condition | undefined {
  const conditions = (object?.status?.['conditions'] ?? []) as readonly Condition[] // Kubernetes convention
  return conditions.find((condition) => condition.type === type)
}

export async function rolledOut(kind: 'deployment' | 'daemonset', namespace: string, name: string): Promise<void> {
  await kubectl(['rollout', 'status', `${kind}/${name}`, '-n', namespace, '--timeout', '170s'])
}
