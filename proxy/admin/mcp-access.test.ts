import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeServer, listening } from '#test/ports.ts'
import { answerMcpAccess } from './mcp-access.ts'

const VALID = { backend: { namespace: 'ns', name: 'tools' }, variables: {}, tools: [{ server: 'a', name: 'b' }] }

let server: Server
let url: string
const questions: unknown[] = []

beforeAll(async () => {
  server = createServer(
    (_request, response) =>
      void answerMcpAccess(response, (question) => {
        questions.push(question)
        return Promise.resolve(
          question.route === 'gone' ? { problem: 'route: gone' } : { route: 'ns/r', deny: null, rules: [], tools: [] },
        )
      }),
  )
  url = `http://127.0.0.1:${await listening(server)}/`
})

afterAll(() => closeServer(server))

async function post(body: unknown): Promise<string> {
  const response = await fetch(url, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) })
  return `${response.status} ${await response.text()}`
}

describe('answerMcpAccess', () => {
  it('passes on what it knows of the question', async () => {
    expect(await post({ ...VALID, route: 'ns/r', more: 1 })).toMatch(/^200 \{/)
    expect(questions).toEqual([{ ...VALID, route: 'ns/r' }])
  })

  it.each<[string, unknown]>([
    ['400 the body must be a JSON object\n', 'no JSON'],
    ['400 backend: must have a namespace and a name\n', { ...VALID, backend: { name: 'tools' } }],
    ['400 route: must be the key of a rule\n', { ...VALID, route: 1 }],
    ['400 variables: must be a JSON object\n', { ...VALID, variables: [] }],
    ['400 tools: must be a list of at most 1000 objects with server and name\n', { ...VALID, tools: [{ name: 'b' }] }],
    ['400 tools: must be a list of at most 1000 objects with server and name\n', { ...VALID, tools: undefined }],
    [
      '400 tools: must be a list of at most 1000 objects with server and name\n',
      { ...VALID, tools: Array(1001).fill(VALID.tools[0]) },
    ],
    ['400 route: gone\n', { ...VALID, route: 'gone' }],
    ['413 the body must not be longer than 262144 bytes\n', { ...VALID, variables: { a: 'x'.repeat(300_000) } }],
  ])('%s', async (answer, body) => {
    expect(await post(body)).toBe(answer)
  })
})
