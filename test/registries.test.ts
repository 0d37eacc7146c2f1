// @module-tag full
// A new field of the API or the contract that is missing in a table of policies must not compile: in the operator, in
// the proxy, and for standalone files. Compiles a copy of the sources with such fields.
import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '..')
const TABLES = {
  operator: 'operator/translate/policy/registry.ts',
  proxy: 'proxy/policy/fields.ts',
  standalone: 'proxy/config/standalone/coverage.ts',
} as const
/** Interface and its file: from the API for the operator, from the contract for the others. */
const SECTIONS = [
  { name: 'traffic', api: 'Traffic', file: 'api/v1alpha1/gwpolicy.gen.ts', payload: 'TrafficPayload' },
  { name: 'backend', api: 'BackendFull', file: 'api/v1alpha1/shared.gen.ts', payload: 'BackendPayload' },
  { name: 'frontend', api: 'Frontend', file: 'api/v1alpha1/gwpolicy.gen.ts', payload: 'FrontendPayload' },
] as const
const CONTRACT = 'api/ir/types.gen.ts'

let folder = ''
let errors: readonly string[] = []

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gw-registries-'))
  for (const part of ['api', 'operator', 'proxy', 'package.json']) {
    cpSync(join(ROOT, part), join(folder, part), { recursive: true })
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  for (const { name, api, file, payload } of SECTIONS) {
    addField(file, api, `${name}Scratch`)
    addField(CONTRACT, payload, `${name}Scratch`)
  }
  const { compilerOptions } = JSON.parse(readFileSync(join(ROOT, 'tsconfig.json'), 'utf8')) as {
    compilerOptions: object
  }
  const options = { ...compilerOptions, incremental: false, tsBuildInfoFile: undefined }
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: options, files: Object.values(TABLES) }),
  )
  errors = await compile()
})

afterAll(() => rmSync(folder, { recursive: true }))

function addField(file: string, type: string, field: string): void {
  const path = join(folder, file)
  const text = readFileSync(path, 'utf8')
  const head = `export interface ${type} {\n`
  expect(text).toContain(head)
  writeFileSync(path, text.replace(head, `${head}  ${field}?: string\n`))
}

async function compile(): Promise<readonly string[]> {
  try {
    await promisify(execFile)(join(ROOT, 'node_modules/.bin/tsc'), ['--pretty', 'false'], { cwd: folder })
  } catch (error) {
    if (error instanceof Error && 'stdout' in error) return String(error.stdout).split('\n')
    throw error
  }
  return []
}

describe.each(SECTIONS)('a new field of the $name section', ({ name }) => {
  it.each(Object.entries(TABLES))('does not compile in the table of the %s', (_, file) => {
    expect(errors.filter((line) => line.startsWith(file) && line.includes(`${name}Scratch`))).not.toEqual([])
  })
})
