// Opens the site of `make docs` in Chromium (`make docs-check`): each page is in the sidebar, diagrams are drawn, the
// search finds pages, and nothing is loaded from elsewhere. Needs Chromium (`apt-get install chromium`).
import { globSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { extname, join } from 'node:path'
import { chromium, type Page } from 'playwright-core'
import { chromiumPath } from '#test/mcp-sign-in/chromium.ts'
import { closeServer, listening } from '#test/ports.ts'

const DIST = join(import.meta.dirname, '../../site/dist')
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
}
const WAIT_MS = 30_000
/** Pages that are not in the sidebar: the first one, and that of wrong addresses. */
const OTHERS = new Set(['index.html', '404.html'])

function site(): Server {
  return createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost')
    const path = pathname.endsWith('/') ? `${pathname}index.html` : pathname
    try {
      const body = readFileSync(join(DIST, path))
      response.writeHead(200, { 'content-type': TYPES[extname(path)] ?? 'application/octet-stream' }).end(body)
    } catch {
      response.writeHead(404).end()
    }
  })
}

/** Addresses below the root, without anchors. */
async function linksOf(page: Page, selector: string): Promise<string[]> {
  const links = await page.$$eval(selector, (found) => found.map((link) => String(link.getAttribute('href'))))
  return [...new Set(links.map((link) => new URL(link, page.url()).pathname))]
}

function fileOf(path: string): string {
  return `${path.slice(1)}${path.endsWith('/') ? 'index.html' : ''}`
}

async function checkSidebar(page: Page): Promise<string[]> {
  const listed = new Set((await linksOf(page, '.VPSidebar a')).map(fileOf))
  const pages = globSync('**/*.html', { cwd: DIST, exclude: ['files/**'] })
  return pages.filter((one) => !listed.has(one) && !OTHERS.has(one)).map((one) => `${one} is not in the sidebar`)
}

async function checkPages(page: Page, root: string): Promise<string[]> {
  const problems: string[] = []
  for (const path of await linksOf(page, '.VPSidebar a')) {
    const answer = await page.goto(`${root}${path}`)
    if (answer?.status() !== 200) problems.push(`${path} has the status ${answer?.status()}`)
    const diagrams = /<Diagram|class="diagram/.test(await page.content())
    if (diagrams) await page.locator('.diagram svg').first().waitFor({ timeout: WAIT_MS })
    const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
    if (overflow > 0) problems.push(`${path} is ${overflow} pixels wider than the window`)
  }
  return problems
}

async function checkSearch(page: Page, root: string): Promise<string[]> {
  await page.goto(`${root}/cel.html`)
  await page.getByRole('button', { name: 'Search' }).click()
  await page.getByRole('searchbox').fill('rate limit')
  await page.locator('.VPLocalSearchBox .result').first().waitFor({ timeout: WAIT_MS })
  const found = await linksOf(page, '.VPLocalSearchBox a.result')
  return found.some((path) => path.includes('rate-limit')) ? [] : ['the search for "rate limit" does not find its page']
}

async function check(): Promise<string[]> {
  const executablePath = chromiumPath()
  if (executablePath === undefined) throw new Error('this check needs Chromium: apt-get install chromium')
  const server = site()
  const root = `http://127.0.0.1:${await listening(server)}`
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  const problems: string[] = []
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
    page.on('pageerror', ({ message }) => problems.push(`${page.url()}: ${message}`))
    page.on('request', (request) => {
      const url = request.url()
      if (!/^(?:data|blob):/.test(url) && !url.startsWith(root)) problems.push(`${page.url()} loads ${url}`)
    })
    page.on('response', (response) => {
      if (response.status() >= 400) problems.push(`${page.url()} gets ${response.status()} for ${response.url()}`)
    })
    await page.goto(`${root}/architecture.html`)
    problems.push(...(await checkSidebar(page)))
    problems.push(...(await checkPages(page, root)))
    problems.push(...(await checkSearch(page, root)))
  } finally {
    await browser.close()
    closeServer(server)
  }
  return problems
}

const problems = await check()
for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exitCode = 1
else console.log('All pages are in the sidebar, work, and load nothing from elsewhere.')
