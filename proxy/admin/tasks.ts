// `/debug/tasks`: what the threads work on or wait for at this moment, as text.
import type { components } from '#api/admin/types.gen.ts'
import { ask } from '../trace/ask.ts'
import type { Inspectable } from '../trace/hub.ts'

const ANSWER_MS_MAX = 5000

export async function taskReport(workers: readonly Inspectable[]): Promise<components['schemas']['Tasks']> {
  const answers = await Promise.all(
    workers.map(async (worker) => {
      const answer = await ask(worker, { kind: 'tasks' }, { timeoutMs: ANSWER_MS_MAX, signal: undefined })
      const lines = answer.type === 'tasks' ? answer.tasks : [answer.type === 'refused' ? answer.message : answer.type]
      return lines.map((line) => `worker-${worker.slot}: ${line}`)
    }),
  )
  return { admin: pendingResources(), workload: answers.flat() }
}

/** Kinds of resources that keep the main thread alive, with their number. */
function pendingResources(): string[] {
  const counts = new Map<string, number>()
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return [...counts].map(([kind, count]) => `main: ${count} ${kind}`)
}
