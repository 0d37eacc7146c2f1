// Signatures and attestations of an image where cosign and admission policies look for them: as images of their own
// beside it, with tags derived from its digest (https://github.com/sigstore/cosign/blob/main/specs). Needs no cosign.
import type { KeyObject } from 'node:crypto'
import { CONFIG_TYPE, type Descriptor, json, type OciLayout } from './oci-layout.ts'
import { signed } from './statement.ts'

const SIGNATURE = 'dev.cosignproject.cosign/signature'
const IN_TOTO = 'application/vnd.in-toto+json'
const NEVER = '0001-01-01T00:00:00Z'

export interface SignedImage {
  /** registry.example/gw/gw */
  readonly image: string
  readonly digest: string
}

/** Adds the tag `sha256-….sig`. */
export function signImage(layout: OciLayout, { image, digest }: SignedImage, key: KeyObject): void {
  const identity = { 'docker-reference': image }
  const type = 'cosign container image signature'
  const payload = json({ critical: { identity, image: { 'docker-manifest-digest': digest }, type }, optional: null })
  const annotations = { [SIGNATURE]: signed(payload, key).toString('base64') }
  const layer = layout.blob('application/vnd.dev.cosign.simplesigning.v1+json', payload)
  layout.tag(tagOf(digest, 'sig'), artifact(layout, [{ ...layer, annotations }]))
}

/** Adds the tag `sha256-….att` with the statements, which are in the form of in-toto. */
export function attestImage(layout: OciLayout, digest: string, statements: readonly string[], key: KeyObject): void {
  const layers = statements.map((statement): Descriptor => {
    const { predicateType } = JSON.parse(statement) as { readonly predicateType: string } // of in-toto
    const layer = layout.blob('application/vnd.dsse.envelope.v1+json', envelope(statement, key))
    return { ...layer, annotations: { [SIGNATURE]: '', predicateType } }
  })
  layout.tag(tagOf(digest, 'att'), artifact(layout, layers))
}

function tagOf(digest: string, kind: 'sig' | 'att'): string {
  return `${digest.replace(':', '-')}.${kind}`
}

/** https://github.com/secure-systems-lab/dsse */
function envelope(statement: string, key: KeyObject): Buffer {
  const payload = Buffer.from(statement)
  const head = `DSSEv1 ${IN_TOTO.length} ${IN_TOTO} ${payload.length} `
  const sig = signed(Buffer.concat([Buffer.from(head), payload]), key).toString('base64')
  return json({ payloadType: IN_TOTO, payload: payload.toString('base64'), signatures: [{ keyid: '', sig }] })
}

/** Registries take what has the form of an image. */
function artifact(layout: OciLayout, layers: readonly Descriptor[]): Descriptor {
  const config = {
    architecture: '',
    created: NEVER,
    os: '',
    config: {},
    history: layers.map(() => ({ created: NEVER })),
    rootfs: { type: 'layers', diff_ids: layers.map(({ digest }) => digest) },
  }
  return layout.manifest(layout.blob(CONFIG_TYPE, json(config)), layers)
}
