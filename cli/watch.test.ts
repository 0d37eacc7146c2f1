// Which changes of files the watch reports: by editors, git, volumes and people, one after the other.
// @module-tag full
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { FOLDERS_MAX, type SourceWatch, watchSource } from './watch.ts'

let folder = ''
let watch: SourceWatch | undefined
let changes = 0
let problems: string[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gw-watch-'))
  changes = 0
  problems = []
})
afterEach(() => {
  watch?.close()
  rmSync(folder, { recursive: true, force: true })
})

function start(path: string, isFolder: boolean): void {
  watch = watchSource(join(folder, path), {
    isFolder,
    onChange: () => changes++,
    onProblem: (message) => problems.push(message),
  })
}

function write(name: string, text = 'a: 1\n'): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true })
  writeFileSync(join(folder, name), text)
}

/** Replaces the file, as `sed -i`, git and most editors do. */
function replace(name: string): void {
  write(`${name}.tmp`, 'a: 2\n')
  renameSync(join(folder, `${name}.tmp`), join(folder, name))
}

async function noticed(what: string, change: () => void): Promise<void> {
  const before = changes
  change()
  await expect.poll(() => changes, { message: what, timeout: 5000 }).toBeGreaterThan(before)
  // A change is reported once: the next report is about the next change.
  for (let last = -1; last !== changes; await new Promise((resolve) => setTimeout(resolve, 60))) last = changes
}

it.each([
  ['a folder', 'conf', true],
  ['a file', 'conf/a.yaml', false],
])('notices every change of %s, for every way of writing it', async (_, path, isFolder) => {
  write('conf/a.yaml')
  start(path, isFolder)
  const changed = ['write', 'replace', 'replace', 'replace', 'write', 'delete', 'replace', 'write', 'move', 'write']
  for (const [at, kind] of changed.entries()) {
    await noticed(`${at} ${kind}`, () => {
      if (kind === 'write') write('conf/a.yaml', `a: ${at}\n`)
      else if (kind === 'replace') replace('conf/a.yaml')
      else if (kind === 'delete') unlinkSync(join(folder, 'conf/a.yaml'))
      else renameSync(join(folder, 'conf/a.yaml'), join(folder, 'conf/a.bak'))
    })
  }
  expect(problems).toEqual([])
})

it('notices files of new folders and of replaced folders', async () => {
  write('conf/one/a.yaml')
  start('conf', true)
  await noticed('a new folder with a file', () => write('conf/two/deep/b.yaml'))
  await noticed('a file in it', () => replace('conf/two/deep/b.yaml'))
  write('next/a.yaml', 'a: 3\n')
  await noticed('another folder in place of one', () => {
    renameSync(join(folder, 'conf/one'), join(folder, 'old'))
    renameSync(join(folder, 'next'), join(folder, 'conf/one'))
  })
  await noticed('a file of the other one', () => write('conf/one/a.yaml', 'a: 4\n'))
  await noticed('no folder', () => rmSync(join(folder, 'conf'), { recursive: true }))
  await noticed('the folder again', () => write('conf/a.yaml'))
  await noticed('a file in it', () => replace('conf/a.yaml'))
  expect(problems).toEqual([])
})

it('follows the links of a mounted ConfigMap, to a file elsewhere and to the whole folder', async () => {
  write('volume/..1/a.yaml')
  symlinkSync('..1', join(folder, 'volume/..data'))
  symlinkSync('..data/a.yaml', join(folder, 'volume/a.yaml'))
  write('elsewhere/b.yaml')
  symlinkSync('../elsewhere/b.yaml', join(folder, 'volume/b.yaml'))
  symlinkSync('volume', join(folder, 'current'))
  start('current', true)
  for (const at of [2, 3]) {
    await noticed(`swap ${at}`, () => {
      write(`volume/..${at}/a.yaml`, `a: ${at}\n`)
      symlinkSync(`..${at}`, join(folder, 'volume/..tmp'))
      renameSync(join(folder, 'volume/..tmp'), join(folder, 'volume/..data'))
    })
  }
  await noticed('the file of a link', () => replace('elsewhere/b.yaml'))
  await noticed('the file of a link again', () => write('elsewhere/b.yaml', 'b: 3\n'))
  write('release/a.yaml')
  await noticed('another folder at the end of the link', () => {
    symlinkSync('release', join(folder, 'next'))
    renameSync(join(folder, 'next'), join(folder, 'current'))
  })
  await noticed('a file of it', () => replace('release/a.yaml'))
  expect(problems).toEqual([])
})

it('ignores other files, and files that are no longer followed', async () => {
  write('conf/a.yaml')
  write('keys/one.pem')
  write('keys/two.pem')
  start('conf', true)
  watch?.follow([join(folder, 'keys/one.pem')])
  await noticed('a file that is named', () => replace('keys/one.pem'))
  watch?.follow([join(folder, 'keys/two.pem')])
  await noticed('another one', () => replace('keys/two.pem'))
  const before = changes
  write('conf/gw.log')
  replace('keys/one.pem')
  write('other.yaml')
  await noticed('the next change', () => replace('conf/a.yaml'))
  expect(changes).toBe(before + 1)
})

it('reports the limit on folders if there are more', () => {
  for (let i = 0; i <= FOLDERS_MAX; i++) mkdirSync(join(folder, 'conf', String(i)), { recursive: true })
  start('conf', true)
  watch?.follow([])
  expect(problems).toEqual([
    `only ${FOLDERS_MAX} folders below ${join(folder, 'conf')} of ${FOLDERS_MAX + 2} are watched; ` +
      'send SIGHUP to reload all files',
  ])
})
