// The folders of the proxy are layers: imports match the diagram of docs/architecture.md.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '..')
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8')

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', 'proxy'], {
  cwd: ROOT,
  encoding: 'utf8',
})
const sources = files
  .split('\n')
  .filter((file) => /^proxy\/[^/]+\/.*\.ts$/.test(file) && !/\.(test|testing|d)\.ts$/.test(file))
  .filter((file) => !/\/(?:testdata|bench)\/|\/(?:bench|test-support)\.ts$/.test(file))

/** The first folder below `proxy`; undefined for files elsewhere or beside the folders. */
function folderOf(file: string): string | undefined {
  return /^proxy\/([^/]+)\//.exec(file)?.[1]
}

/** `from folder` to `to folder`, with one file that imports. */
const imported = new Map<string, Map<string, string>>()
for (const file of sources) {
  const from = folderOf(file) ?? ''
  for (const [, specifier = ''] of read(file).matchAll(/(?:from|import)\s*\(?\s*'([#.][^']+)'/g)) {
    const target = specifier.startsWith('#') ? specifier.slice(1) : normalize(join(dirname(file), specifier))
    const to = folderOf(target)
    if (to === undefined || to === from) continue
    const targets = imported.get(from) ?? new Map<string, string>()
    imported.set(from, targets.set(to, targets.get(to) ?? `${file} imports ${target}`))
  }
}

const picture = /```mermaid\n(flowchart[^`]*?)```/.exec(read('docs/architecture.md'))?.[1] ?? ''
const arrows = [...picture.matchAll(/^\s*([\w-]+) --> ([\w-]+)$/gm)].map(
  ([, from = '', to = '']) => [from, to] as const,
)

/** Folders below a folder, by the arrows. */
function below(folder: string): Set<string> {
  const found = new Set<string>()
  const open = [folder]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const [from, to] of arrows) {
      if (from !== next || found.has(to)) continue
      found.add(to)
      open.push(to)
    }
  }
  return found
}

describe('folders of proxy', () => {
  it('never import each other', () => {
    const pairs = [...imported].flatMap(([from, targets]) =>
      [...targets].filter(([to]) => from < to && imported.get(to)?.has(from) === true),
    )
    expect(pairs).toEqual([])
  })

  it('are all in the diagram of docs/architecture.md, which has no cycle', () => {
    const drawn = new Set(arrows.flat())
    expect([...drawn].sort()).toEqual([...new Set(sources.map((file) => folderOf(file) ?? ''))].sort())
    expect([...drawn].filter((folder) => below(folder).has(folder))).toEqual([])
  })

  it('import along the arrows only', () => {
    const wrong = [...imported].flatMap(([from, targets]) => {
      const allowed = below(from)
      return [...targets].filter(([to]) => !allowed.has(to)).map(([, example]) => example)
    })
    expect(wrong).toEqual([])
  })

  it('have no arrow without an import, and no redundant arrow', () => {
    const superfluous = arrows.filter(([from, to]) => {
      const others = arrows.filter((arrow) => arrow[0] === from && arrow[1] !== to)
      return imported.get(from)?.has(to) !== true || others.some(([, next]) => below(next).has(to))
    })
    expect(superfluous).toEqual([])
  })
})
