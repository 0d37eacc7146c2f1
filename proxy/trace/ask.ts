// One question to one thread, and its answer. A thread that dies, or is too slow, has refused.
import { MessageChannel } from 'node:worker_threads'
import type { Inspectable } from './hub.ts'
import type { InspectAnswer, InspectRequest } from './messages.ts'

export type Question = Exclude<InspectRequest, { kind: 'trace' }>

export function ask(
  worker: Inspectable,
  question: Question,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal | undefined },
): Promise<InspectAnswer> {
  const { port1, port2 } = new MessageChannel()
  return new Promise((resolve) => {
    const settle = (answer: InspectAnswer): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
      port1.close()
      resolve(answer)
    }
    const onAbort = (): void => settle({ type: 'refused', message: 'the request was canceled' })
    const timer = setTimeout(() => settle({ type: 'refused', message: 'no answer in time' }), timeoutMs)
    signal?.addEventListener('abort', onAbort, { once: true })
    port1.on('message', settle)
    port1.on('close', () => settle({ type: 'refused', message: 'the thread ended' }))
    worker.inspect(question, port2)
  })
}

/** A worker that is busy for longer is left out. */
const ANSWER_MS_MAX = 2000

/** The answers of this type of the workers that answer in time. */
export async function askAll<T extends InspectAnswer['type']>(
  workers: readonly Inspectable[],
  question: Question,
  type: T,
): Promise<readonly Extract<InspectAnswer, { readonly type: T }>[]> {
  const answers = await Promise.all(
    workers.map((worker) => ask(worker, question, { timeoutMs: ANSWER_MS_MAX, signal: undefined })),
  )
  return answers.filter((answer): answer is Extract<InspectAnswer, { readonly type: T }> => answer.type === type)
}
