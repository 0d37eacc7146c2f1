// Checks of docs: links are valid, every yaml block loads, manifests in it are valid, and pages of policies have the
// same structure. test/conformance/pages.test.ts checks the output of their commands.
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { describe, expect, it } from 'vitest'
import { isKnownKind, validateObject } from '#api/validate/validate.ts'

const ROOT = join(import.meta.dirname, '..')
const POLICIES = join(ROOT, 'docs', 'policies')

/** In this order. */
const PARTS = [
  /^# (?:(?:traffic|frontend|backend)\.[a-zA-Z]+|filters? [A-Z]\w+(?: and [A-Z]\w+)?|filters of a backendRef)$/m,
  /^\*\*When it runs\.\*\* /m,
  /^\| field \| default \| meaning \|$/m,
  /^\*\*Merging\.\*\* /m,
  /^\*\*Failures\.\*\* /m,
  /^## Example$/m,
  /^```yaml$/m,
  /^```console$/m,
]

const pages = readdirSync(POLICIES).filter((file) => file.endsWith('.md') && file !== 'README.md')
const documents = globSync('{README.md,docs/**/*.md}', { cwd: ROOT }).filter((file) => yamlBlocks(file).length > 0)

function yamlBlocks(file: string): string[] {
  const text = readFileSync(join(ROOT, file), 'utf8')
  return [...text.matchAll(/^```ya?ml\n([\s\S]*?)^```/gm)].map(([, block = '']) => block)
}

describe('pages of policies', () => {
  it.each(pages)('%s has every part, in order', (page) => {
    const text = readFileSync(join(POLICIES, page), 'utf8')
    const places = PARTS.map((part) => text.search(part))
    expect(PARTS.filter((_, index) => places[index] === -1).map(String)).toEqual([])
    expect(places).toEqual(places.toSorted((a, b) => a - b))
  })

  it('are all listed', () => {
    const list = readFileSync(join(POLICIES, 'README.md'), 'utf8')
    expect(pages.filter((page) => !list.includes(`(${page})`))).toEqual([])
  })
})

describe('maps of the repository', () => {
  const architecture = readFileSync(join(ROOT, 'docs', 'architecture.md'), 'utf8')
  const foldersIn = (folder: string): string[] =>
    readdirSync(join(ROOT, folder), { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !['node_modules', 'dist'].includes(entry.name))
      .filter((entry) => !entry.name.startsWith('.') && globSync('**/*.*', { cwd: join(ROOT, folder, entry.name) })[0])
      .map(({ name }) => join(folder, name))

  it('docs/architecture.md describes each folder', () => {
    const folders = ['api', 'operator', 'proxy'].flatMap(foldersIn)
    const top = foldersIn('.').filter((folder) => !['api', 'bin', 'docs', 'operator', 'proxy'].includes(folder))
    expect(folders.length).toBeGreaterThan(30)
    const isNamed = (folder: string): boolean =>
      new RegExp(`^\\|.*\`${folder}(?:/schema)?\`.*\\|`, 'm').test(architecture)
    expect([...folders, ...top].filter((folder) => !isNamed(folder))).toEqual([])
  })

  it('docs/adr/README.md lists every decision', () => {
    const list = readFileSync(join(ROOT, 'docs', 'adr', 'README.md'), 'utf8')
    const decisions = readdirSync(join(ROOT, 'docs', 'adr')).filter((file) => file !== 'README.md')
    expect(decisions.filter((file) => !list.includes(`(${file})`))).toEqual([])
  })

  it('the changelog has one line of at most three sentences for each feature, in an area', () => {
    const lines = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8').split('\n').slice(3)
    const isHeading = (line: string): boolean => /^#{2,3} [A-Z0-9][A-Za-z0-9, .]*$/.test(line)
    const isEntry = (line: string): boolean =>
      /^- [A-Z`][^]*\.$/.test(line) && line.length <= 300 && line.split(/\.\s+(?=[A-Z`])/).length <= 3
    const isIntroduction = (line: string): boolean => line.startsWith('The first version.')
    expect(lines.filter((line) => line !== '' && !isHeading(line) && !isEntry(line) && !isIntroduction(line))).toEqual(
      [],
    )
    expect(lines.filter(isEntry).length).toBeGreaterThan(50)
  })
})

describe('links of the documentation', () => {
  const pages = globSync('{*.md,docs/**/*.md,config/**/*.md}', { cwd: ROOT })

  it.each(pages)('%s: lead to files that are there, and to their headings', (page) => {
    const wrong = linksOf(page).filter((link) => {
      const [path = '', heading] = link.split('#')
      const target = path === '' ? page : join(dirname(page), path)
      if (!existsSync(join(ROOT, target))) return true
      return heading !== undefined && target.endsWith('.md') && !headingsOf(target).has(heading)
    })
    expect(wrong).toEqual([])
  })

  it('paths on pages exist', () => {
    const named = pages.flatMap((page) =>
      [...readFileSync(join(ROOT, page), 'utf8').matchAll(PATH)].map(([, path = '']) => path),
    )
    expect(named.length).toBeGreaterThan(50)
    expect([...new Set(named)].filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
  })
})

/** In backticks, below a folder of the repository, without a place holder. */
const PATH = /`((?:config|hack|test|deployer|operator|proxy|api|cli|bench|docs|images)\/[A-Za-z0-9_./-]+)`/g

/** Relative ones, outside code. */
function linksOf(page: string): string[] {
  const text = readFileSync(join(ROOT, page), 'utf8')
    .replaceAll(/^```[\s\S]*?^```/gm, '')
    .replaceAll(/`[^`\n]*`/g, '')
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link).filter((link) => !/^[a-z]+:/.test(link))
}

/** The anchors of headings: `## Metrics of the controller` is `metrics-of-the-controller`. */
function headingsOf(page: string): Set<string> {
  const lines = readFileSync(join(ROOT, page), 'utf8').matchAll(/^#{1,6} (.*)$/gm)
  return new Set(
    [...lines].map(([, line = '']) =>
      line
        .trim()
        .toLowerCase()
        .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .replaceAll(/[^\p{L}\p{N}\- _]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )
}

describe('the page about a new policy', () => {
  const text = readFileSync(join(ROOT, 'docs', 'adding-a-policy.md'), 'utf8')
  const all = globSync('{api,config,docs,operator,proxy,test}/**/*', { cwd: ROOT })
  const isThere = (name: string): boolean => all.some((file) => file === name || file.endsWith(`/${name}`))

  it('names existing files, also those with only the end of their path', () => {
    const names = [...text.matchAll(/`([\w-][\w./-]*)`/g)].map(([, name = '']) => name)
    const paths = names.filter((name) => name.includes('/') || /\.(ts|yaml|md)$/.test(name))
    expect(paths.length).toBeGreaterThan(30)
    expect(paths.filter((path) => !isThere(path))).toEqual([])
  })

  it('has commands that run something', () => {
    const runs = [...text.matchAll(/vitest run ([^`\n]+)/g)].flatMap(([, given = '']) =>
      (given.split(' -t ')[0] ?? '').split(' '),
    )
    expect(runs.length).toBeGreaterThan(4)
    expect(runs.filter((path) => !all.some((file) => file.startsWith(path) && !file.endsWith('/')))).toEqual([])
    const targets = [...text.matchAll(/`make ([a-z -]+)`/g)].flatMap(([, given = '']) => given.split(' '))
    const makefile = readFileSync(join(ROOT, 'Makefile'), 'utf8')
    expect(targets.length).toBeGreaterThan(3)
    expect(targets.filter((target) => !new RegExp(`^${target}:`, 'm').test(makefile))).toEqual([])
  })
})

describe('yaml of the documentation', () => {
  it('exists', () => {
    expect(documents.length).toBeGreaterThan(pages.length)
  })

  it.each(documents)('%s: every block loads, and its manifests are valid', (file) => {
    for (const block of yamlBlocks(file)) {
      for (const document of parseAllDocuments(block, { uniqueKeys: true })) {
        expect(document.errors.map(({ message }) => message)).toEqual([])
        const value: unknown = document.toJS()
        if (isKnownKind(value)) expect(validateObject(value).problems).toEqual([])
      }
    }
  })
})
