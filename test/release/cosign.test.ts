// Signatures and attestations beside an image, as cosign reads them: their tags, their forms, and what they sign.
import { generateKeyPairSync, type KeyObject, verify } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { attestImage, signImage } from '../../hack/release/cosign.ts'
import { digestOf, OciLayout } from '../../hack/release/oci-layout.ts'
import { billStatement } from '../../hack/release/statement.ts'

const HEX = 'ab'.repeat(32)
const DIGEST = `sha256:${HEX}`
const IMAGE = { image: 'registry.example/gw/gw', digest: DIGEST }

const folder = mkdtempSync(join(tmpdir(), 'gw-cosign-'))
afterAll(() => rmSync(folder, { recursive: true }))
const { privateKey, publicKey } = generateKeyPairSync('ed25519')

interface Layer {
  readonly mediaType: string
  readonly digest: string
  readonly annotations: Readonly<Record<string, string>>
}

/** The only layer of the image with this tag, and its content. */
function layerOf(layout: OciLayout, tag: string): { readonly layer: Layer; readonly content: Buffer } {
  const blob = (digest: string): Buffer => readFileSync(join(layout.folder, 'blobs', digest.replace(':', '/')))
  const { manifests } = JSON.parse(readFileSync(join(layout.folder, 'index.json'), 'utf8'))
  const named = manifests.find(
    ({ annotations }: { annotations: Record<string, string> }) =>
      annotations['org.opencontainers.image.ref.name'] === tag,
  )
  const { config, layers } = JSON.parse(blob(named.digest).toString())
  expect(layers).toHaveLength(1)
  expect(JSON.parse(blob(config.digest).toString()).rootfs.diff_ids).toEqual([layers[0].digest])
  const content = blob(layers[0].digest)
  expect(digestOf(content)).toBe(layers[0].digest)
  return { layer: layers[0], content }
}

function isSigned(content: Uint8Array, signature: string | undefined, key: KeyObject = publicKey): boolean {
  return verify(null, content, key, Buffer.from(signature ?? '', 'base64'))
}

describe('signImage', () => {
  it('signs name and digest of the image', () => {
    const layout = new OciLayout(join(folder, 'signed'))
    signImage(layout, IMAGE, privateKey)
    expect(layout.tags).toEqual([`sha256-${HEX}.sig`])
    const { layer, content } = layerOf(layout, `sha256-${HEX}.sig`)
    expect(layer.mediaType).toBe('application/vnd.dev.cosign.simplesigning.v1+json')
    expect(JSON.parse(content.toString())).toEqual({
      critical: {
        identity: { 'docker-reference': IMAGE.image },
        image: { 'docker-manifest-digest': DIGEST },
        type: 'cosign container image signature',
      },
      optional: null,
    })
    const signature = layer.annotations['dev.cosignproject.cosign/signature']
    expect(isSigned(content, signature)).toBe(true)
    expect(isSigned(content, signature, generateKeyPairSync('ed25519').publicKey)).toBe(false)
  })
})

describe('attestImage', () => {
  it('signs a statement about the digest, in an envelope', () => {
    const layout = new OciLayout(join(folder, 'attested'))
    const statement = billStatement({ name: IMAGE.image, digest: HEX }, '{"bomFormat":"CycloneDX"}')
    attestImage(layout, DIGEST, [statement], privateKey)
    const { layer, content } = layerOf(layout, `sha256-${HEX}.att`)
    expect(layer).toMatchObject({
      mediaType: 'application/vnd.dsse.envelope.v1+json',
      annotations: { predicateType: 'https://cyclonedx.org/bom' },
    })
    const { payloadType, payload, signatures } = JSON.parse(content.toString())
    const body = Buffer.from(payload, 'base64')
    expect(JSON.parse(body.toString())).toMatchObject({
      subject: [{ name: IMAGE.image, digest: { sha256: HEX } }],
      predicate: { bomFormat: 'CycloneDX' },
    })
    const encoded = `DSSEv1 ${payloadType.length} ${payloadType} ${body.length} ${body.toString()}`
    expect(isSigned(Buffer.from(encoded), signatures[0].sig)).toBe(true)
    expect(isSigned(body, signatures[0].sig)).toBe(false)
  })
})
