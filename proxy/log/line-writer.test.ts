import { spawn } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createLineRing, lineRingWriter } from './line-ring.ts'
import { createLineWriter } from './line-writer.ts'

let directory = ''
let fd = -1

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'gw-line-writer-'))
  fd = openSync(join(directory, 'log'), 'a')
})

afterEach(() => {
  closeSync(fd)
  rmSync(directory, { recursive: true })
})

const written = (): string => readFileSync(join(directory, 'log'), 'utf8')

describe('createLineWriter', () => {
  it('writes own lines and lines of rings, each whole', async () => {
    const writer = createLineWriter(fd)
    const ring = createLineRing()
    writer.attach(ring)
    const write = lineRingWriter(ring, () => writer.wake())
    for (let i = 0; i < 1000; i++) {
      write(`ring ${i}\n`)
      if (i % 100 === 0) writer.write(`main ${i}\n`)
    }
    await writer.flush()
    const lines = written().split('\n').slice(0, -1)
    expect(lines.filter((line) => line.startsWith('ring'))).toEqual(Array.from({ length: 1000 }, (_, i) => `ring ${i}`))
    expect(lines.filter((line) => line.startsWith('main'))).toHaveLength(10)
  })

  it('keeps what a dead writer left behind', async () => {
    const writer = createLineWriter(fd)
    const ring = createLineRing()
    writer.attach(ring)
    await writer.flush()
    lineRingWriter(ring, () => undefined)('last words\n')
    writer.detach(ring)
    await writer.flush()
    expect(written()).toBe('last words\n')
  })

  it('writes everything out synchronously at the end', () => {
    const writer = createLineWriter(fd)
    const ring = createLineRing()
    writer.attach(ring)
    lineRingWriter(ring, () => undefined)('a\n')
    writer.flushSync()
    expect(written()).toBe('a\n')
  })

  it('survives a descriptor that is closed', async () => {
    const writer = createLineWriter(987_654)
    writer.write('lost\n')
    await writer.flush()
    writer.write('lost too\n')
    writer.flushSync()
    await expect(writer.flush()).resolves.toBeUndefined()
  })

  it('says once that lines are lost, where the disk is full', async () => {
    const module = new URL('./line-writer.ts', import.meta.url).href
    const script = `
      import { openSync } from 'node:fs'
      import { createLineWriter } from '${module}'
      const writer = createLineWriter(openSync('/dev/full', 'w'))
      for (let i = 0; i < 3; i++) {
        writer.write('line\\n')
        await writer.flush()
      }
      writer.flushSync()
    `
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let text = ''
    for await (const chunk of child.stderr) text += String(chunk)
    expect(text).toBe('gw: cannot write the log (ENOSPC): log lines are lost until there is room\n')
  })

  it('waits for a pipe that is full instead of dropping lines', async () => {
    const module = new URL('./line-writer.ts', import.meta.url).href
    const script = `
      import { createLineWriter } from '${module}'
      process.stdout.writable
      const writer = createLineWriter(1)
      for (let i = 0; i < 20000; i++) writer.write('line ' + i + ' ' + 'x'.repeat(80) + '\\n')
      await writer.flush()
    `
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let text = ''
    for await (const chunk of child.stdout) text += String(chunk)
    const lines = text.split('\n').slice(0, -1)
    expect(lines).toHaveLength(20_000)
    expect(lines.findIndex((line, i) => !line.startsWith(`line ${i} `))).toBe(-1)
  })
})
