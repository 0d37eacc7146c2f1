// The bundle with the web UI, a gateway that runs from it, and Chromium with pages of the UI.
// Needs Chromium (`apt-get install chromium`).
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { chromiumPath } from '#test/mcp-sign-in/chromium.ts'
import { type CommandOptions, startCommand, type RunningCommand } from '#test/ui/command.testing.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

export const SETUP_MS = 180_000
/** On a machine with other work. */
export const CASE_MS = 120_000

/** Both colours and both sizes that pages are made for. */
export const THEMES = [
  ['light, on a desk', { colorScheme: 'light', viewport: { width: 1280, height: 800 } }],
  ['dark, on a phone', { colorScheme: 'dark', viewport: { width: 390, height: 844 } }],
] as const

export interface Ui {
  readonly gateway: RunningCommand
  /** Folder of the bundle. */
  readonly bundle: string
  /** Of all pages: exceptions, errors on the console, requests to other servers. */
  readonly problems: string[]
  /** The first page of the UI of the gateway; `admin`: of another server. */
  open(options?: BrowserContextOptions, admin?: string): Promise<Page>
  stop(): Promise<void>
}

/** `given`: a standalone file; unset, that of `startCommand`. `environment`: of the gateway. */
export async function startUi(given?: string, environment: CommandOptions['environment'] = {}): Promise<Ui> {
  const folder = mkdtempSync(join(tmpdir(), 'gw-ui-'))
  const bundle = join(folder, 'bundle')
  const rolldown = join(ROOT, 'node_modules/.bin/rolldown')
  execFileSync(rolldown, ['--config', 'rolldown.config.ts', '--dir', bundle], { cwd: ROOT, stdio: 'pipe' })
  const executablePath = chromiumPath()
  if (executablePath === undefined) throw new Error('this test needs Chromium: apt-get install chromium')
  const gateway = await startCommand(join(bundle, 'gw.js'), folder, { given, environment })
  const browser: Browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  const problems: string[] = []
  return {
    gateway,
    bundle,
    problems,
    open: async (options = {}, admin = gateway.admin) => {
      const context = await browser.newContext({ bypassCSP: false, ...options })
      const page = await context.newPage()
      page.setDefaultTimeout(CASE_MS / 2)
      page.on('pageerror', ({ message }) => problems.push(message))
      page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
      page.on('request', (request) => request.url().startsWith(admin) || problems.push(request.url()))
      await page.goto(`${admin}/ui`)
      return page
    },
    stop: async () => {
      await browser.close()
      await gateway.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Of axe-core. */
interface Results {
  readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[]
}

/** Of the rules for accessibility, in the page as it is. */
export async function violations(page: Page): Promise<string[]> {
  const results = await page.evaluate<Results>(`${AXE}; axe.run(document)`)
  return results.violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))
}

/** What is wrong with a page as it is shown. `overflow`: pixels that it is wider than the window. */
export async function flaws(page: Page): Promise<{ readonly violations: string[]; readonly overflow: number }> {
  const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
  return { violations: await violations(page), overflow }
}

export const NO_FLAWS = { violations: [], overflow: 0 }
