import { describe, expect, it } from 'vitest'
import { parseDocuments, placeOfOffset, splitPath, type LocatedDocument } from './document.ts'

const TEXT = `# A comment
kind: A
spec:
  listeners:
    - name: http
      port: 80
    - name: other
  labels:
    gw.dev/x: "1"
    "a.b": 2
  flow: { inner: [1, { deep: x }] }
---
kind: B
empty:
`

function only(text: string): LocatedDocument {
  const { documents, problems } = parseDocuments('f.yaml', text)
  expect(problems).toEqual([])
  const [document] = documents
  if (document === undefined) throw new Error('no document')
  return document
}

describe('parseDocuments', () => {
  it('returns the value and the start of every document', () => {
    const { documents, problems } = parseDocuments('f.yaml', TEXT)
    expect(problems).toEqual([])
    expect(documents.map(({ value, start }) => [(value as { kind: string }).kind, start])).toEqual([
      ['A', { file: 'f.yaml', line: 2, column: 1 }],
      ['B', { file: 'f.yaml', line: 13, column: 1 }],
    ])
  })

  it.each([
    ['', 2, 1],
    ['kind', 2, 1],
    ['spec.listeners', 4, 3],
    ['spec.listeners[0]', 5, 7],
    ['spec.listeners[0].port', 6, 7],
    ['spec.listeners[1].name', 7, 7],
    ['spec.labels[gw.dev/x]', 9, 5],
    ['spec.labels["a.b"]', 10, 5],
    ['spec.flow.inner[1].deep', 11, 24],
  ])('finds %j', (path, line, column) => {
    const [document] = parseDocuments('f.yaml', TEXT).documents
    expect(document?.locate(path)).toEqual({ file: 'f.yaml', line, column })
  })

  it.each([
    ['spec.listeners[0].hostname', 5, 7],
    ['spec.listeners[7].name', 4, 3],
    ['spec.listeners.name', 4, 3],
    ['spec.absent.deeper', 3, 1],
    ['absent', 2, 1],
    ['kind.below.a.scalar', 2, 1],
  ])('finds the deepest part of %j that exists', (path, line, column) => {
    const [document] = parseDocuments('f.yaml', TEXT).documents
    expect(document?.locate(path)).toMatchObject({ line, column })
  })

  it('finds fields below a key without a value, in later documents and in JSON', () => {
    expect(parseDocuments('f', TEXT).documents[1]?.locate('empty.x')).toMatchObject({ line: 14, column: 1 })
    expect(only('{"a": {"b": [1,\n 2]}}').locate('a.b[1]')).toMatchObject({ line: 2, column: 2 })
  })

  it('follows aliases to their anchors', () => {
    const document = only('base: &b\n  host: x\nuse: *b\n')
    expect(document.value).toEqual({ base: { host: 'x' }, use: { host: 'x' } })
    expect(document.locate('use.host')).toMatchObject({ line: 2, column: 3 })
  })

  it('reports several errors of one file and continues with the other documents', () => {
    const { documents, problems } = parseDocuments('f.yaml', 'a: 1\na: 2\nb: 1\nb: 2\n---\nx: @y\n---\nok: 1\n')
    expect(problems.map(({ line, column }) => [line, column])).toEqual([
      [2, 1],
      [4, 1],
      [6, 4],
    ])
    expect(
      problems.every(({ message, severity }) => message.startsWith('not valid YAML: ') && severity === 'error'),
    ).toBe(true)
    expect(documents.map(({ value }) => value)).toEqual([{ ok: 1 }])
  })

  it('reports one mistake once, although the parser then lists the rest of the document', () => {
    const { problems } = parseDocuments('f', 'a: { b: x[0] }\nc: { d: 1 }\ne: 2\n')
    expect(problems).toHaveLength(1)
  })

  it('quotes nothing of a broken file: it may be a secret', () => {
    for (const text of [
      'a: [ hidden }',
      'a: {x: hidden]',
      'a: "hidden',
      '- hidden\nhidden: x',
      '@hidden',
      'a: *hidden',
    ]) {
      const { problems } = parseDocuments('f', text)
      expect(problems.length).toBeGreaterThan(0)
      expect(JSON.stringify(problems)).not.toContain('hidden')
    }
  })

  it('rejects aliases that expand without end', () => {
    const levels = Array.from({ length: 9 }, (_, i) => `l${i}: &l${i} [${`*l${i - 1}, `.repeat(i === 0 ? 0 : 9)}x]`)
    const { documents, problems } = parseDocuments('f', levels.join('\n'))
    expect(documents).toEqual([])
    expect(problems).toMatchObject([{ line: 1, message: expect.stringContaining('alias') }])
  })

  it('rejects aliases of their own parents, and values that are nested too deeply, with their position', () => {
    const inside = parseDocuments('f', 'name: x\nspec: &s\n  a: 1\n  again: *s\n')
    expect(inside.documents).toEqual([])
    expect(inside.problems).toMatchObject([
      { line: 4, column: 3, message: expect.stringContaining('write out the value') },
    ])
    for (const levels of [300, 20_000]) {
      const { documents, problems } = parseDocuments('f', `${'['.repeat(levels)}1${']'.repeat(levels)}`)
      expect(documents).toEqual([])
      expect(problems).toMatchObject([{ line: 1, message: expect.stringContaining('nested') }])
    }
  })

  it('leaves out empty documents', () => {
    expect(parseDocuments('f', '---\n---\n# only a comment\n---\nnull\n')).toEqual({ documents: [], problems: [] })
    expect(parseDocuments('f', '')).toEqual({ documents: [], problems: [] })
  })

  it('returns positions of the original text', () => {
    const original = { text: 'a: $X\nb: 1\n', offsetOf: (offset: number) => (offset > 3 ? offset - 3 : offset) }
    const { documents } = parseDocuments('f', 'a: value\nb: 1\n', original)
    expect(documents[0]?.locate('b')).toMatchObject({ line: 2, column: 1 })
  })
})

describe('splitPath', () => {
  it.each([
    ['', []],
    ['a.b', ['a', 'b']],
    ['a[0].b', ['a', '0', 'b']],
    ['a[gw.dev/x].c', ['a', 'gw.dev/x', 'c']],
    ['a["x.y"]', ['a', 'x.y']],
    ["a['x.y']", ['a', 'x.y']],
    ['[0][1]', ['0', '1']],
  ])('%j', (path, parts) => {
    expect(splitPath(path)).toEqual(parts)
  })
})

describe('placeOfOffset', () => {
  it.each([
    [0, 1, 1],
    [1, 1, 2],
    [2, 2, 1],
    [4, 3, 1],
  ])('%i', (offset, line, column) => {
    expect(placeOfOffset('a\nb\nc', offset)).toEqual({ line, column })
  })
})
