// Problems of paths and files that cannot be read.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { readProblem, readSources } from './files.ts'

const folder = mkdtempSync(join(tmpdir(), 'gw-files-'))
afterAll(() => rmSync(folder, { recursive: true }))

const READ_ARGUMENT = `
import { readSources } from ${JSON.stringify(pathToFileURL(join(import.meta.dirname, 'files.ts')).href)}
console.log(JSON.stringify(readSources(process.argv[1])))
`

function written(name: string, content: string | Uint8Array): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

function problemOf(path: string): string {
  const sources = readSources(path)
  return 'problem' in sources ? sources.problem.replaceAll(folder, '') : 'none'
}

describe('readSources', () => {
  it('reads one file, or the files of a folder in order', () => {
    const sub = join(folder, 'sub')
    mkdirSync(sub)
    const b = written('sub/b.yaml', 'b: 1')
    const a = written('sub/a.json', '{}')
    written('sub/notes.txt', Buffer.from([0xff]))
    expect(readSources(b)).toEqual({ files: [{ path: b, text: 'b: 1' }] })
    expect(readSources(sub)).toEqual({
      files: [
        { path: a, text: '{}' },
        { path: b, text: 'b: 1' },
      ],
    })
  })

  it('reads a mounted ConfigMap once, through its links', () => {
    mkdirSync(join(folder, 'volume/..2026_a'), { recursive: true })
    const stored = written('volume/..2026_a/a.yaml', 'a: 1')
    symlinkSync('..2026_a', join(folder, 'volume/..data'))
    symlinkSync('..data/a.yaml', join(folder, 'volume/a.yaml'))
    expect(readSources(join(folder, 'volume'))).toEqual({
      files: [{ path: join(folder, 'volume/a.yaml'), text: 'a: 1' }],
    })
    expect(readSources(join(folder, 'volume/..2026_a'))).toEqual({ files: [{ path: stored, text: 'a: 1' }] })
  })

  it.each([
    ['bytes that are not UTF-8', Buffer.from('a: 1\nb: caf\xe9\nc: 1', 'latin1'), 2],
    ['a character cut off at the end', Buffer.from([0x61, 0x0a, 0x0a, 0xc3]), 3],
    ['UTF-16', Buffer.from('\ufeffa: 1\n', 'utf16le'), 1],
  ])('names the line of %s', (name, content, line) => {
    const path = written(`${name}.yaml`, content)
    expect(problemOf(path)).toBe(`/${name}.yaml:${line}: is not valid UTF-8; save the file as UTF-8`)
    expect(readSources(path)).toMatchObject({ file: path, line })
    const text = written('fine.yaml', 'a: café 漢\n')
    expect(readSources(text)).toEqual({ files: [{ path: text, text: 'a: café 漢\n' }] })
  })

  it('reads a device without an end, and a pipe, no further than the limit', () => {
    expect(problemOf('/dev/zero')).toBe('/dev/zero: larger than 16777216 bytes; split it')
    const { stdout } = spawnSync('bash', ['-c', `"$0" -e "$1" <(printf 'a: 1')`, process.execPath, READ_ARGUMENT], {
      encoding: 'utf8',
    })
    expect(JSON.parse(stdout)).toMatchObject({ files: [{ text: 'a: 1' }] })
  })

  it.each([
    ['/a', 'permission denied; make it readable for the user who runs gw'],
    ['/a/b/c', 'permission denied for b/c; make it readable for the user who runs gw'],
  ])('names what cannot be read in a folder: %s', (path, expected) => {
    const error = Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES', path })
    expect(readProblem('/a', error)).toBe(expected)
  })

  it('reports why it cannot read a path', () => {
    expect(problemOf(join(folder, 'nothing'))).toBe('/nothing: no such file or folder')
    symlinkSync('/nowhere/gw.yaml', join(folder, 'link.yaml'))
    expect(problemOf(join(folder, 'link.yaml'))).toBe(
      '/link.yaml: the target /nowhere/gw.yaml of the link does not exist',
    )
    symlinkSync('loop.yaml', join(folder, 'loop.yaml'))
    expect(problemOf(join(folder, 'loop.yaml'))).toBe('/loop.yaml: the link points to itself; make it point to a file')
    expect(problemOf(written('image.yaml', Buffer.from('\x89PNG\r\n\0\0', 'latin1')))).toBe(
      '/image.yaml:1: is a binary file; pass YAML or JSON, saved as UTF-8',
    )
    const large = written('large.yaml', Buffer.alloc(16 * 1024 * 1024 + 1, 'a'))
    expect(problemOf(large)).toBe('/large.yaml: larger than 16777216 bytes; split it')
  })
})
