// Edits of files of `gw run`: what is refused, and what is written.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SourceEdit, SourceEditor } from '#proxy/admin/source-editing.ts'
import { filesId, type SourceMemory } from '../source.ts'
import { sourceEditor } from './source-editor.ts'

const TEXT = `gateways: { default: { port: 8080 } }
routes:
  - backends:
      - host: 127.0.0.1:80
        policies: { backendAuth: secret-of-the-backend }
`
let folder: string
let file: string
let reloads: number

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gw-edit-'))
  file = join(folder, 'gw.yaml')
  writeFileSync(file, TEXT)
  reloads = 0
})

afterEach(() => rmSync(folder, { recursive: true }))

function editorOf(path = file, memory: SourceMemory = {}): SourceEditor {
  return sourceEditor({
    path,
    memory,
    storedKeys: () => [],
    reload: () => {
      reloads++
      return Promise.resolve(undefined)
    },
  })
}

/** The first file with a changed text. */
async function edited(editor: SourceEditor, change: (text: string) => string): Promise<SourceEdit> {
  const [first] = await editor.read()
  if (first?.text === undefined) throw new Error(first?.problem)
  return { path: first.path, etag: first.etag, text: change(first.text) }
}

describe('a standalone file', () => {
  it('is shown without its credentials, and saved with them', async () => {
    const editor = editorOf()
    const edit = await edited(editor, (text) => text.replace('8080', '8081'))
    expect(edit.text).toContain('backendAuth: "<hidden:1>"')
    expect(await editor.save(edit)).toMatchObject({ kind: 'saved', problems: [] })
    expect([readFileSync(file, 'utf8'), reloads]).toEqual([TEXT.replace('8080', '8081'), 1])
  })

  it('with an error is not written; the problem has its line', async () => {
    const editor = editorOf()
    const edit = await edited(editor, (text) => text.replace('- host:', '- hots:'))
    const problem = {
      file,
      line: 4,
      severity: 'error',
      message: expect.stringContaining('did you mean host?') as string,
    }
    expect(await editor.check(edit)).toMatchObject([problem])
    expect(await editor.save(edit)).toMatchObject({ kind: 'invalid', problems: [problem] })
    expect([readFileSync(file, 'utf8'), reloads]).toEqual([TEXT, 0])
  })

  it('that has changed in the meantime is not overwritten', async () => {
    const editor = editorOf()
    const edit = await edited(editor, (text) => `${text}\n`)
    writeFileSync(file, `${TEXT}# by another editor\n`)
    expect([await editor.check(edit), await editor.save(edit)]).toEqual(['changed', { kind: 'changed' }])
    expect(readFileSync(file, 'utf8')).toContain('by another editor')
  })

  it('is not loaded again as long as it is the one that the process has loaded', async () => {
    const problem = { file, line: 3, column: 1, path: '', message: 'of the process', severity: 'warning' } as const
    const last = { id: filesId([{ path: file, text: TEXT }]), secrets: ['routes'], problems: [problem] }
    const editor = editorOf(file, { last })
    const edit = await edited(editor, (text) => text)
    expect(edit.text).toContain('<hidden:1>:')
    expect(await editor.check(edit)).toEqual([problem])
    const other = await editor.check({ ...edit, text: edit.text.replace('8080', '8081') })
    expect(other).toEqual([])
    writeFileSync(file, `${TEXT}# by another editor\n`)
    expect((await edited(editor, (text) => text)).text).toContain('routes:')
  })

  it('is the only one that can be written', async () => {
    const editor = editorOf()
    const other = join(folder, 'other.yaml')
    writeFileSync(other, TEXT)
    const edit = await edited(editor, (text) => text)
    expect(await editor.save({ ...edit, path: other })).toEqual({ kind: 'changed' })
    expect(await editor.save({ ...edit, path: join(folder, 'new.yaml') })).toEqual({ kind: 'changed' })
  })

  it('of two saves of one text, the second one loses', async () => {
    const editor = editorOf()
    const edit = await edited(editor, (text) => text.replace('8080', '8082'))
    const kinds = await Promise.all([editor.save(edit), editor.save({ ...edit, text: TEXT.replace('8080', '8083') })])
    expect(kinds.map(({ kind }) => kind)).toEqual(['saved', 'changed'])
    expect(readFileSync(file, 'utf8')).toContain('8082')
  })

  it('that is not YAML is not shown', async () => {
    writeFileSync(file, 'apiKey: [ secret-of-the-backend')
    const [first] = await editorOf().read()
    expect(first).toMatchObject({ problem: expect.stringContaining('not valid YAML') as string })
    expect(JSON.stringify(first)).not.toContain('secret')
  })
})

describe('a folder of manifests', () => {
  it('has each file, and is checked as a whole', async () => {
    rmSync(file)
    const manifest = (kind: string, rest: string): string =>
      `apiVersion: ${kind === 'Secret' ? 'v1' : 'gateway.networking.k8s.io/v1'}\nkind: ${kind}\n${rest}`
    writeFileSync(
      join(folder, 'a.yaml'),
      manifest(
        'Gateway',
        'metadata: { name: web }\nspec: { gatewayClassName: gw, listeners: [{ name: http, port: 8080, protocol: HTTP }] }\n',
      ),
    )
    writeFileSync(
      join(folder, 'b.yaml'),
      manifest('Secret', 'metadata: { name: k }\nstringData: { Authorization: abc }\n'),
    )
    const editor = editorOf(folder)
    const files = await editor.read()
    expect(files.map(({ text }) => text?.includes('"<hidden:1>"'))).toEqual([false, true])
    const edit = await edited(editor, (text) => text.replace('port: 8080', 'port: eighty'))
    expect(await editor.save(edit)).toMatchObject({ kind: 'invalid', problems: [{ line: 4, severity: 'error' }] })
  })
})
