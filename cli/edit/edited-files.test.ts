// Edits of files of `gw run`: what is refused, and what is written.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SourceEdit } from '#proxy/admin/source-editing.ts'
import { filesId } from '../source.ts'
import { EditedFiles, type ProcessState } from './edited-files.ts'

const TEXT = `gateways: { default: { port: 8080 } }
routes:
  - backends:
      - host: 127.0.0.1:80
        policies: { backendAuth: secret-of-the-backend }
`
const STATE: ProcessState = { storedKeys: [] }
let folder: string
let file: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gw-edit-'))
  file = join(folder, 'gw.yaml')
  writeFileSync(file, TEXT)
})

afterEach(() => rmSync(folder, { recursive: true }))

/** The first file with a changed text. */
async function edited(
  files: EditedFiles,
  change: (text: string) => string,
  state: ProcessState = STATE,
): Promise<SourceEdit> {
  const [first] = await files.read(state)
  if (first?.text === undefined) throw new Error(first?.problem)
  return { path: first.path, etag: first.etag, text: change(first.text) }
}

describe('a standalone file', () => {
  it('is shown without its credentials, and saved with them', async () => {
    const files = new EditedFiles(file)
    const edit = await edited(files, (text) => text.replace('8080', '8081'))
    expect(edit.text).toContain('backendAuth: "<hidden:1>"')
    expect(await files.save(edit, STATE)).toMatchObject({ kind: 'saved', problems: [] })
    expect(readFileSync(file, 'utf8')).toEqual(TEXT.replace('8080', '8081'))
  })

  it('with an error is not written; the problem has its line', async () => {
    const files = new EditedFiles(file)
    const edit = await edited(files, (text) => text.replace('- host:', '- hots:'))
    const problem = {
      file,
      line: 4,
      severity: 'error',
      message: expect.stringContaining('did you mean host?') as string,
    }
    expect(await files.check(edit, STATE)).toMatchObject([problem])
    expect(await files.save(edit, STATE)).toMatchObject({ kind: 'invalid', problems: [problem] })
    expect(readFileSync(file, 'utf8')).toEqual(TEXT)
  })

  it('that has changed in the meantime is not overwritten', async () => {
    const files = new EditedFiles(file)
    const edit = await edited(files, (text) => `${text}\n`)
    writeFileSync(file, `${TEXT}# by another editor\n`)
    expect([await files.check(edit, STATE), await files.save(edit, STATE)]).toEqual(['changed', { kind: 'changed' }])
    expect(readFileSync(file, 'utf8')).toContain('by another editor')
  })

  it('is not loaded again as long as it is the one that the process has loaded', async () => {
    const problem = { file, line: 3, column: 1, path: '', message: 'of the process', severity: 'warning' } as const
    const last = { id: filesId([{ path: file, text: TEXT }]), secrets: ['routes'], problems: [problem] }
    const state = { last, storedKeys: [] }
    const files = new EditedFiles(file)
    const edit = await edited(files, (text) => text, state)
    expect(edit.text).toContain('<hidden:1>:')
    expect(await files.check(edit, state)).toEqual([problem])
    const other = await files.check({ ...edit, text: edit.text.replace('8080', '8081') }, state)
    expect(other).toEqual([])
    writeFileSync(file, `${TEXT}# by another editor\n`)
    expect((await edited(files, (text) => text, state)).text).toContain('routes:')
  })

  it('is the only one that can be written', async () => {
    const files = new EditedFiles(file)
    const other = join(folder, 'other.yaml')
    writeFileSync(other, TEXT)
    const edit = await edited(files, (text) => text)
    expect(await files.save({ ...edit, path: other }, STATE)).toEqual({ kind: 'changed' })
    expect(await files.save({ ...edit, path: join(folder, 'new.yaml') }, STATE)).toEqual({ kind: 'changed' })
  })

  it('that is not YAML is not shown', async () => {
    writeFileSync(file, 'apiKey: [ secret-of-the-backend')
    const [first] = await new EditedFiles(file).read(STATE)
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
    const files = new EditedFiles(folder)
    const texts = await files.read(STATE)
    expect(texts.map(({ text }) => text?.includes('"<hidden:1>"'))).toEqual([false, true])
    const edit = await edited(files, (text) => text.replace('port: 8080', 'port: eighty'))
    expect(await files.save(edit, STATE)).toMatchObject({ kind: 'invalid', problems: [{ line: 4, severity: 'error' }] })
  })
})
