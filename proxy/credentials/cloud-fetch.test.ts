import { expect, it } from 'vitest'
import { CloudFetch } from './cloud-fetch.ts'

const live = (): AbortSignal => new AbortController().signal

it('sends nothing to a host that is not admitted, whatever the library reports in its place', async () => {
  const sent: string[] = []
  const cloud = new CloudFetch({
    admits: ({ hostname }) => hostname === 'good.example',
    signal: live(),
    send: async (input) => {
      sent.push(String(input))
      return await Promise.resolve(new Response('{}'))
    },
  })
  const error: unknown = await cloud
    .run(async () => {
      await cloud.fetch('https://good.example/')
      await cloud.fetch('http://169.254.169.254/planted?planted').catch(() => {
        throw new Error('planted text of the library')
      })
    })
    .catch((reason: unknown) => reason)
  expect(error).toMatchObject({
    reason: 'Rejected',
    message: 'requests for the credential may not go to http://169.254.169.254',
  })
  expect(sent).toEqual(['https://good.example/'])
})

it('limits the requests of one fetch', async () => {
  let sent = 0
  const cloud = new CloudFetch({
    admits: () => true,
    signal: live(),
    send: async () => {
      sent++
      return await Promise.resolve(new Response('{}', { status: 503 }))
    },
  })
  const error: unknown = await cloud
    .run(async () => {
      for (;;) await cloud.fetch('https://good.example/')
    })
    .catch((reason: unknown) => reason)
  expect(error).toMatchObject({ message: 'the library sent too many requests for one credential' })
  expect(sent).toBe(12)
})
