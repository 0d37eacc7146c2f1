import { pathToFileURL } from 'node:url'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { PasswordHash } from '#api/credentials/htpasswd.ts'
import { NOT_CHECKED, PasswordChecker, type PasswordResult } from './password-checker.ts'
import { UserTable } from './user-table.ts'

const SHA1 = '{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g='
const BCRYPT = '$2y$04$abcdefghijklmnopqrstuughE8Ev8uGFaUgY2cNEySvxngrb/Jzdm'
const MD5 = '$apr1$r31cxUZH$U/wAA8nAvHYO2FFhGEwz5.'

/** Answers on demand. */
function heldChecker() {
  const asked: { password: string; hash: PasswordHash; answer: (result: PasswordResult) => void }[] = []
  const check = (password: string, hash: PasswordHash): Promise<PasswordResult> =>
    new Promise((answer) => asked.push({ password, hash, answer }))
  return { asked, check }
}

describe('UserTable', () => {
  it('checks SHA-1 synchronously', () => {
    const table = new UserTable(`alice:${SHA1}`)
    for (let i = 0; i < 2; i++) {
      expect([
        table.check('alice', 'password'),
        table.check('alice', 'Password'),
        table.check('bob', 'password'),
        table.check('', ''),
      ]).toEqual([true, false, false, false])
    }
  })

  it('checks slow hashes in a separate thread, once', async () => {
    const table = new UserTable(`alice:${BCRYPT}\nbob:${MD5}`)
    for (const name of ['alice', 'bob']) {
      const first = table.check(name, 'password')
      expect(first).toBeInstanceOf(Promise)
      expect(table.check(name, 'password')).toBe(first)
      expect(await first).toBe(true)
      expect(table.check(name, 'password')).toBe(true)
      expect(await table.check(name, 'wrong')).toBe(false)
      expect(table.check(name, 'wrong')).toBe(false)
    }
  })

  it('takes as long for unknown users', async () => {
    const checker = heldChecker()
    const table = new UserTable(`alice:${BCRYPT}`, checker)
    const result = table.check('mallory', 'password')
    expect(checker.asked).toMatchObject([{ password: 'password', hash: { kind: 'bcrypt', text: BCRYPT } }])
    // The correct password of another user is rejected as well.
    checker.asked[0]?.answer(true)
    expect(await result).toBe(false)
    expect(table.check('mallory', 'password')).toBe(false)
  })

  it('does not remember a check that was not made', async () => {
    const checker = heldChecker()
    const table = new UserTable(`alice:${BCRYPT}`, checker)
    const first = table.check('alice', 'password')
    checker.asked[0]?.answer(NOT_CHECKED)
    expect(await first).toBe(NOT_CHECKED)
    const second = table.check('alice', 'password')
    checker.asked[1]?.answer(true)
    expect(await second).toBe(true)
  })

  it('guesses do not evict valid users', async () => {
    const table = new UserTable(`alice:${SHA1}\nbob:${MD5}`)
    expect(await table.check('bob', 'password')).toBe(true)
    for (let i = 0; i < 5000; i++) expect(table.check('alice', `guess ${i}`)).toBe(false)
    expect(table.check('bob', 'password')).toBe(true)
  })

  it.each([
    [undefined, ['its secret is missing', 'no users: all credentials are rejected']],
    ['', ['no users: all credentials are rejected']],
    ['alice', ['line 1 is ignored: it is not `name:hash`', 'no users: all credentials are rejected']],
  ])('rejects all credentials without users: %j', (text, warnings) => {
    const table = new UserTable(text)
    expect(table.warnings).toEqual(warnings)
    expect([table.check('alice', ''), table.check('alice', 'password')]).toEqual([false, false])
  })
})

describe('PasswordChecker', () => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'gw-password-'))
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  const withThread = (name: string, source: string): PasswordChecker => {
    const file = join(folder, `${name}.mjs`)
    writeFileSync(file, `import { parentPort } from 'node:worker_threads'\n${source}`)
    return new PasswordChecker(pathToFileURL(file))
  }
  const hash: PasswordHash = { kind: 'bcrypt', text: BCRYPT }

  it('limits waiting checks, and answers the rest as not checked when it closes', async () => {
    const checker = withThread('silent', "parentPort.on('message', () => {})")
    const waiting = Array.from({ length: 64 }, () => checker.check('x', hash))
    expect(await checker.check('x', hash)).toBe(NOT_CHECKED)
    await checker.close()
    expect(await Promise.all(waiting)).toEqual(Array.from({ length: 64 }, () => NOT_CHECKED))
  })

  it('survives the death of its thread', async () => {
    const checker = withThread(
      'mortal',
      `parentPort.on('message', ({ id, password }) => {
        if (password === 'poison') throw new Error('dead')
        parentPort.postMessage({ id, isRight: password === 'right' })
      })`,
    )
    expect(await checker.check('right', hash)).toBe(true)
    expect(await checker.check('poison', hash)).toBe(NOT_CHECKED)
    expect(await checker.check('wrong', hash)).toBe(false)
    await checker.close()
  })

  it('a hash that cannot be computed matches no password', async () => {
    const checker = new PasswordChecker()
    expect(await checker.check('x', { kind: 'bcrypt', text: 'no hash' })).toBe(false)
    expect(await checker.check('password', hash)).toBe(true)
    await checker.close()
  })
})
