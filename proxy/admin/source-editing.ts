// `/source`: the files that configure the process, for the editor of the web UI. Off unless UI_EDITS is set. Who may
// edit them decides what the process runs, so that only pages of the admin server itself, and tools, may read and save.
import type { ServerResponse } from 'node:http'
import type { components } from '#api/admin/types.gen.ts'
import { isRecord, parseJson } from '#api/json.ts'
import { messageOf } from '../exchange/diagnosis.ts'
import type { Logger } from '../log/logger.ts'
import { isOwnPage } from './browser-guard.ts'
import { bodyText, send, sendJson, sendText } from './http-listener.ts'

type Schemas = components['schemas']
export type SourceText = Schemas['SourceText']
export type SourceEdit = Schemas['SourceEdit']
export type SourceProblem = Schemas['SourceProblem']

export type SaveResult =
  /** `reason`: why the new configuration is not in force. */
  | { readonly kind: 'saved'; readonly etag: string; readonly problems: SourceProblem[]; readonly reason?: string }
  | { readonly kind: 'changed' }
  | { readonly kind: 'invalid'; readonly problems: SourceProblem[] }
  | { readonly kind: 'failed'; readonly message: string }

/** What knows the files, outside of the proxy. */
export interface SourceEditor {
  /** Without credentials. */
  read(): Promise<SourceText[]>
  /** `signal`: the page has left. */
  check(edit: SourceEdit, signal: AbortSignal): Promise<SourceProblem[] | 'changed'>
  save(edit: SourceEdit): Promise<SaveResult>
}

export interface EditParts {
  /** The setting UI_EDITS. */
  readonly isAllowed: boolean
  /** undefined: no file of this machine configures the process. */
  readonly editor: () => SourceEditor | undefined
  readonly log: Logger
}

/** A text of the longest file, with escapes. */
const BODY_BYTES_MAX = 4 * 1024 * 1024
const CHANGED = 'the file has changed since you opened it: copy your changes, and load it again\n'

export async function answerSource(parts: EditParts, response: ServerResponse): Promise<void> {
  const editor = allowedEditor(parts, response)
  if (editor !== undefined) sendJson(response, { files: await editor.read() })
}

export async function answerCheck(parts: EditParts, response: ServerResponse): Promise<void> {
  const asked = await askedEdit(parts, response)
  if (asked === undefined) return
  const ended = new AbortController()
  response.once('close', () => ended.abort())
  const problems = await asked.editor.check(asked.edit, ended.signal)
  if (problems === 'changed') sendText(response, 409, CHANGED)
  else sendJson(response, { problems })
}

export async function answerSave(parts: EditParts, response: ServerResponse): Promise<void> {
  const asked = await askedEdit(parts, response)
  if (asked === undefined) return
  const { editor, edit } = asked
  const result = await editor.save(edit)
  if (result.kind === 'saved') {
    parts.log.info('the web UI has changed a file', { file: edit.path, ...(result.reason && { error: result.reason }) })
    sendJson(response, {
      etag: result.etag,
      problems: result.problems,
      ...(result.reason && { reason: result.reason }),
    })
  } else if (result.kind === 'changed') sendText(response, 409, CHANGED)
  else if (result.kind === 'failed') {
    parts.log.error('the web UI cannot change a file', { file: edit.path, error: result.message })
    sendText(response, 500, `${result.message}\n`)
  } else {
    const body = `${JSON.stringify({ problems: result.problems })}\n`
    send(response, { status: 422, type: 'application/json', body })
  }
}

function allowedEditor({ isAllowed, editor }: EditParts, response: ServerResponse): SourceEditor | undefined {
  if (!isAllowed) sendText(response, 403, 'the web UI may not read and change files: set UI_EDITS=true to allow it\n')
  else if (!isOwnPage(response.req.headers)) sendText(response, 403, 'only pages of the web UI may edit files\n')
  else {
    const found = editor()
    if (found !== undefined) return found
    sendText(response, 404, 'no file of this machine configures the proxy\n')
  }
  return undefined
}

async function askedEdit(
  parts: EditParts,
  response: ServerResponse,
): Promise<{ readonly editor: SourceEditor; readonly edit: SourceEdit } | undefined> {
  const editor = allowedEditor(parts, response)
  if (editor === undefined) return undefined
  if (response.req.headers['content-type'] !== 'application/json') {
    sendText(response, 415, 'content-type must be application/json\n')
    return undefined
  }
  const text = await bodyText(response.req, BODY_BYTES_MAX)
  if (text === undefined) {
    sendText(response, 413, `the body must not be longer than ${BODY_BYTES_MAX} bytes\n`)
    return undefined
  }
  const edit = editOf(parseJson(text))
  if (edit === undefined) sendText(response, 400, 'the body must be a JSON object with the texts path, etag and text\n')
  return edit && { editor, edit }
}

function editOf(value: unknown): SourceEdit | undefined {
  if (!isRecord(value)) return undefined
  const { path, etag, text } = value
  const isComplete = typeof path === 'string' && typeof etag === 'string' && typeof text === 'string'
  return isComplete ? { path, etag, text } : undefined
}

/** What reads files fails for reasons that the user can remove. */
export async function reported(work: Promise<void>, response: ServerResponse): Promise<void> {
  try {
    await work
  } catch (error) {
    if (response.headersSent) throw error
    sendText(response, 500, `${messageOf(error)}\n`)
  }
}
