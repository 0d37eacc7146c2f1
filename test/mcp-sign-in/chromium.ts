// Follows the pages of an identity provider in headless Chromium, over its DevTools protocol.
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
const DEADLINE_MS = 30_000
/** In the page: a user who writes the name and agrees. */
const SUBMIT = (login: string): string => `
  for (const [name, value] of [['login', ${JSON.stringify(login)}], ['password', 'any']]) {
    const field = document.querySelector('input[name=' + name + ']')
    if (field !== null) field.value = value
  }
  document.querySelector('button[type=submit]')?.click()`

/** undefined: this machine has none. */
export function chromiumPath(): string | undefined {
  return PLACES.find((path) => existsSync(path))
}

/** As `signIn` of browser.ts. */
export async function signInWithChromium(path: string, start: URL, callback: string, login: string): Promise<URL> {
  const profile = mkdtempSync(join(tmpdir(), 'gw-chromium-'))
  const options = ['--headless=new', '--no-sandbox', '--disable-gpu', '--remote-debugging-port=0']
  const browser = spawn(path, [...options, `--user-data-dir=${profile}`, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const exited = new Promise((resolve) => browser.once('exit', resolve))
  try {
    return await inTime(visit(new WebSocket(await debuggerOf(browser)), { start, callback, login }))
  } finally {
    browser.kill()
    await exited
    rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  }
}

function debuggerOf({ stderr }: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      const url = /DevTools listening on (ws:\S+)/.exec(text)?.[1]
      if (url !== undefined) resolve(url)
    })
    stderr?.once('end', () => reject(new Error(`the browser ended: ${text}`)))
  })
}

interface Visit {
  readonly start: URL
  readonly callback: string
  readonly login: string
}

interface Message {
  readonly id?: number
  readonly method?: string
  readonly result?: { readonly targetId?: string; readonly sessionId?: string }
  readonly params?: { readonly request?: { readonly url: string } }
}

async function visit(socket: WebSocket, { start, callback, login }: Visit): Promise<URL> {
  const answers = new Map<number, (message: Message) => void>()
  const returned = Promise.withResolvers<URL>()
  let sent = 0
  let sessionId: string | undefined
  const send = (method: string, params: object = {}): Promise<Message> => {
    const id = ++sent
    socket.send(JSON.stringify({ id, method, params, sessionId }))
    return new Promise((resolve) => answers.set(id, resolve))
  }
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data)) as Message // of the DevTools protocol
    if (message.id !== undefined) answers.get(message.id)?.(message)
    if (message.method === 'Page.loadEventFired') void send('Runtime.evaluate', { expression: SUBMIT(login) })
    if (message.method === 'Fetch.requestPaused') returned.resolve(new URL(message.params?.request?.url ?? ''))
  })
  await new Promise((resolve) => socket.addEventListener('open', resolve))
  const { result: target } = await send('Target.createTarget', { url: 'about:blank' })
  const { result: session } = await send('Target.attachToTarget', { targetId: target?.targetId, flatten: true })
  sessionId = session?.sessionId
  await send('Page.enable')
  await send('Fetch.enable', { patterns: [{ urlPattern: `${callback}*` }] })
  await send('Page.navigate', { url: start.href })
  return returned.promise
}

function inTime(work: Promise<URL>): Promise<URL> {
  const late = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error('the browser did not return in time')), DEADLINE_MS).unref()
  })
  return Promise.race([work, late])
}
