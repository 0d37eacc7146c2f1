import { randomBytes } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '#test/run/runs.ts'
import type { RenderedSecrets } from '../ir/types.gen.ts'
import { type DocumentRef, encodeDocument, type Files } from './document.ts'
import { type EncodedSecrets, secretFile, SecretEncoder } from './secret-pieces.ts'
import { SecretReader } from './secret-reader.ts'

const COUNT = 80
const VALUE_CHARS = 6000
/** Text that gzip cannot shrink much: documents of several pieces. */
const NOISE = randomBytes(VALUE_CHARS * 2).toString('base64')

function secretsOf(versions: readonly number[]): RenderedSecrets {
  const valueOf = (version: number): string => `é ${NOISE.slice(version, version + VALUE_CHARS)}`
  const secrets = versions.flatMap((version, at) =>
    version === 0 ? [] : [{ key: `shop/secret-${String(at).padStart(3, '0')}/key`, value: valueOf(version) }],
  )
  return { version: 1, secrets }
}

const FULL: readonly number[] = Array.from({ length: COUNT }, (_, at) => at + 1)

interface Stored {
  readonly ref: DocumentRef
  readonly files: Files
}

function stored(encoded: EncodedSecrets): Stored {
  const { bytes, encoding, sha256 } = encoded
  const named = encoded.pieces.map((piece, at) => [secretFile(encoded, piece, at % 3), piece.content] as const)
  return { ref: { files: named.map(([name]) => name), encoding, bytes, sha256 }, files: new Map(named) }
}

describe('SecretReader', () => {
  it('reads what the encoder wrote, after any changes, and keeps the objects of equal items', () => {
    const change = fc.record({
      at: fc.nat({ max: COUNT - 1 }),
      version: fc.nat({ max: 300 }),
      salt: fc.constantFrom('aa', 'aa', 'aa', 'bb'),
    })
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 5 }), (changes) => {
        const [encoder, reader] = [new SecretEncoder(), new SecretReader()]
        let versions = FULL
        let before: RenderedSecrets['secrets'] = []
        for (const { at, version, salt } of [{ at: 0, version: 1, salt: 'aa' }, ...changes]) {
          versions = versions.with(at, version)
          const wanted = secretsOf(versions)
          const { ref, files } = stored(encoder.encode(salt, wanted))
          expect(ref.encoding).toBe('gzip')
          const outcome = reader.read(ref, (name) => files.get(name))
          expect(outcome).toEqual({ value: wanted })
          const now = 'value' in outcome ? outcome.value.secrets : []
          const equal = before.filter(({ key, value }) =>
            wanted.secrets.some((one) => one.key === key && one.value === value),
          )
          for (const item of equal) expect(now).toContain(item)
          before = now
        }
      }),
      { numRuns: runs(15) },
    )
  }, 120_000)

  it('asks only for new pieces', () => {
    const [encoder, reader] = [new SecretEncoder(), new SecretReader()]
    const first = stored(encoder.encode('aa', secretsOf(FULL)))
    reader.read(first.ref, (name) => first.files.get(name))
    const second = stored(encoder.encode('aa', secretsOf(FULL.with(40, 99))))
    // Those that the reader knows may be anything by now.
    const files: Files = new Map(
      [...second.files].map(([name, content], at) => [
        name,
        at > 0 && first.files.has(name) ? new Uint8Array() : content,
      ]),
    )
    const damaged = [...files.values()].filter(({ length }) => length === 0).length
    expect([damaged > 0, damaged < files.size - 1]).toEqual([true, true])
    expect(reader.read(second.ref, (name) => files.get(name))).toEqual({ value: secretsOf(FULL.with(40, 99)) })
  })

  it('names a missing piece, and rejects a damaged one, also one that is swapped with another', () => {
    const { ref, files } = stored(new SecretEncoder().encode('aa', secretsOf(FULL)))
    const [one = '', other = ''] = ref.files.slice(1)
    const read = (name: string, content: Uint8Array | undefined): unknown =>
      new SecretReader().read(ref, (wanted) => (wanted === name ? content : files.get(wanted)))
    expect(read(one, undefined)).toMatchObject({ reason: 'Incomplete', missing: [one] })
    expect(read(one, files.get(other))).toMatchObject({ reason: 'Corrupt' })
    const damaged = Uint8Array.from(files.get(one) ?? [])
    damaged[100] = (damaged[100] ?? 0) ^ 1
    expect(read(one, damaged)).toMatchObject({ reason: 'Corrupt' })
    expect(new SecretReader().read({ ...ref, bytes: ref.bytes + 1 }, (name) => files.get(name))).toMatchObject({
      reason: 'Corrupt',
    })
  })

  it('reads the files of a previous version, which have no pieces, and rejects a document with another content', () => {
    const reader = new SecretReader()
    const wanted = { ...secretsOf(FULL), salt: 'aa' }
    const { ref, files } = encodeDocument('secrets', wanted)
    expect(ref.encoding).toBe('gzip')
    expect(reader.read(ref, (name) => files.get(name))).toEqual({ value: secretsOf(FULL) })
    const wrong = encodeDocument('secrets', { ...wanted, secrets: [{ key: 1 }] })
    expect(reader.read(wrong.ref, (name) => wrong.files.get(name))).toHaveProperty('problems')
  })

  it('rejects a piece whose item breaks the schema', () => {
    const broken = {
      version: 1,
      secrets: [...secretsOf(FULL).secrets, { key: 'z', value: 5 }],
    } as unknown as RenderedSecrets
    const { ref, files } = stored(new SecretEncoder().encode('aa', broken))
    expect(new SecretReader().read(ref, (name) => files.get(name))).toHaveProperty('problems')
  })
})
