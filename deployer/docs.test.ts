// Every example of docs/deployment.md is a golden or its parameters, so that what it does is tested.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'

interface Named {
  readonly kind: string
  readonly spec: unknown
}

const page = readFileSync(join(import.meta.dirname, '../docs/deployment.md'), 'utf8')
const examples = [...page.matchAll(/^```yaml\n# (\S+)\n([\s\S]*?)^```$/gm)].map(([, name = '', text = '']) => ({
  name,
  text,
}))

it('names a golden in every example', () => {
  expect(examples.length).toBeGreaterThan(7)
  expect(page.match(/^```yaml$/gm)).toHaveLength(examples.length)
})

it.each(examples.map(({ name, text }) => [name, text] as const))('%s', (name, text) => {
  const file = join(import.meta.dirname, `testdata/${name}.in.yaml`)
  const documents = documentsOf(readFileSync(file, 'utf8'))
  if (/^kind:/m.test(text)) expect(documents).toMatchObject(documentsOf(text))
  else expect(parse(text)).toEqual(documents.find(({ kind }) => kind === 'GwParameters')?.spec)
})

function documentsOf(text: string): Named[] {
  return parseAllDocuments(text).map((document): Named => document.toJS())
}
