// The documentation as a site (`make docs`): the same files that the repository shows, with a sidebar and a search that
// needs no server. VitePress fails the build on a link to a page that does not exist.
import { cpSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig, type DefaultTheme } from 'vitepress'
import { copyPages, placeOf } from './files.ts'
import { GROUPS, pagesOf } from './pages.ts'

const ROOT = join(import.meta.dirname, '../..')
const PAGES = join(ROOT, 'site/pages')
/** Pages outside of docs, with their titles in the sidebar. */
const OTHERS = {
  'CHANGELOG.md': 'Changelog',
  'CONTRIBUTING.md': 'Contributing',
  'SECURITY.md': 'Report a vulnerability',
  'config/samples/README.md': 'Samples',
}

const docs = globSync('docs/**/*.md', { cwd: ROOT }).toSorted()
copyPages(ROOT, [...docs, ...Object.keys(OTHERS)], PAGES)
cpSync(join(ROOT, 'site/index.md'), join(PAGES, 'index.md'))

function titleOf(page: string): string {
  const [, title] = /^# (.*)$/m.exec(readFileSync(join(ROOT, 'docs', `${page}.md`), 'utf8')) ?? []
  if (title === undefined) throw new Error(`docs/${page}.md has no title`)
  return title.replaceAll('`', '')
}

const names = docs.map((file) => file.slice('docs/'.length, -'.md'.length))
const sidebar = GROUPS.map((group): DefaultTheme.SidebarItem => ({
  text: group.text,
  collapsed: group.isOpen !== true,
  items: pagesOf(group, names).map((page) => ({ text: titleOf(page), link: `/${page.replace(/README$/, '')}` })),
}))

sidebar.push({
  text: 'Project',
  collapsed: true,
  items: Object.entries(OTHERS).map(([page, text]) => ({ text, link: `/${placeOf(page).replace(/\.md$/, '')}` })),
})

export default defineConfig({
  title: 'Gw',
  description: 'Gateway for HTTP, gRPC, LLM and MCP traffic, for Kubernetes and without it',
  lang: 'en',
  srcDir: PAGES,
  outDir: join(ROOT, 'site/dist'),
  lastUpdated: false,
  // The library of the diagrams is loaded by the pages that have one.
  vite: { build: { chunkSizeWarningLimit: 2000 } },
  markdown: {
    config: (markdown) => {
      const { fence } = markdown.renderer.rules
      markdown.renderer.rules.fence = (tokens, index, ...rest) => {
        const token = tokens[index]
        if (token?.info.trim() !== 'mermaid') return fence?.(tokens, index, ...rest) ?? ''
        return `<Diagram text="${encodeURIComponent(token.content)}" />`
      }
      // As blocks between fences: with a copy button, and long lines scroll in the block instead of the page.
      markdown.renderer.rules.code_block = (...rest) => markdown.renderer.rules.fence?.(...rest) ?? ''
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Start', link: '/llm/start' },
      { text: 'Concepts', link: '/concepts/request-path' },
      { text: 'Policies', link: '/policies/' },
      { text: 'Reference', link: '/reference/gwpolicy' },
      { text: 'Operations', link: '/deployment' },
      { text: 'Internals', link: '/architecture' },
    ],
    sidebar,
  },
})
