// Entry of the thread that reads, checks and replaces the files of `gw run` for the web UI. Started by
// edit-worker.ts only.
import { parentPort, workerData } from 'node:worker_threads'
import type { SourceEdit } from '#proxy/admin/source-editing.ts'
import { reasonText } from '../output.ts'
import { EditedFiles, type ProcessState } from './edited-files.ts'

export type EditCall =
  | { readonly kind: 'read' }
  | { readonly kind: 'check'; readonly edit: SourceEdit }
  | { readonly kind: 'save'; readonly edit: SourceEdit }

export interface EditQuestion {
  readonly call: EditCall
  readonly state: ProcessState
}

/** `value`: of the method of EditedFiles with the name of the call. */
export type EditAnswer = { readonly value: unknown } | { readonly problem: string }

/** Given by edit-worker.ts: the path of `gw run -f`. */
const files = new EditedFiles(workerData as string)

parentPort?.on('message', (question: EditQuestion) => {
  void answerOf(question).then((answer) => parentPort?.postMessage(answer))
})

async function answerOf({ call, state }: EditQuestion): Promise<EditAnswer> {
  try {
    if (call.kind === 'read') return { value: await files.read(state) }
    if (call.kind === 'check') return { value: await files.check(call.edit, state) }
    return { value: await files.save(call.edit, state) }
  } catch (error) {
    return { problem: reasonText(error) }
  }
}
