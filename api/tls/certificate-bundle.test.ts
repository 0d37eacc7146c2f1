import { describe, expect, it } from 'vitest'
import { certificateBlocks, certificatesOnly } from './certificate-bundle.ts'

const CERTIFICATE = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----'

describe('certificatesOnly', () => {
  it.each(['PRIVATE KEY', 'RSA PRIVATE KEY', 'EC PRIVATE KEY', 'ENCRYPTED PRIVATE KEY'])('removes a %s', (label) => {
    const key = `-----BEGIN ${label}-----\nplanted\n-----END ${label}-----`
    expect(certificatesOnly(`${key}\n${CERTIFICATE}\n`)).toBe(`${CERTIFICATE}\n`)
    expect(certificatesOnly(`${CERTIFICATE}\n${key}\n${CERTIFICATE}`)).toBe(`${CERTIFICATE}\n${CERTIFICATE}\n`)
    expect(certificatesOnly(`${CERTIFICATE}\n-----BEGIN ${label}-----\nplanted without an end`)).toBe(
      `${CERTIFICATE}\n`,
    )
  })

  it('keeps a bundle without a private key as it is', () => {
    const bundle = `# an authority\n${CERTIFICATE}\n\n${CERTIFICATE}`
    expect(certificatesOnly(bundle)).toBe(bundle)
    expect(certificateBlocks(bundle)).toEqual([CERTIFICATE, CERTIFICATE])
  })
})
