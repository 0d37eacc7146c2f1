import stringWidth from 'string-width'
import { describe, expect, it } from 'vitest'
import { EVENTS } from './events.testing.ts'
import { fit, paneRows, screenOf, type Size } from './screen.ts'
import { firstView, pressed, type View, withEvent } from './view.ts'

const SIZE: Size = { columns: 100, rows: 12 }

/** `keys`: letters that were pressed. */
function view(keys = '', size = SIZE): View {
  const all = EVENTS.reduce(withEvent, firstView(paneRows(size), 'complete'))
  const typed = Array.from(keys, (text) => ({ name: text, text, isControl: false }))
  return typed.reduce(pressed, all)
}

function drawn(shown: View, { size = SIZE, hasColour = false }: { size?: Size; hasColour?: boolean } = {}): string[] {
  return screenOf(shown, size, { title: 'gateway/web', hasColour })
}

describe('screenOf', () => {
  it('shows numbered events with their marks, and the selected one', () => {
    const lines = drawn(view('k')).map((line) => line.trimEnd())
    expect(lines[0]).toMatch(/^ gateway\/web {2}GET shop\.example\/admin {2,}complete$/)
    expect(lines[1]).toMatch(/^\[# {3}ms {7}event {13}summary\] +│ \(event\) {2}snapshot {3}diff {2}yaml$/)
    const list = lines.slice(2, -1).map((line) => line.split('│')[0]?.trimEnd())
    expect(list).toEqual([
      ' 1   0.5      Request Start     request started',
      ' 2   0.6      Snapshot          initial request',
      ' 3   3.4      Route             selected demo/shop (1 evalu…',
      ' 4   6.8      CEL             ~ x-role == "admin" => error:…',
      ' 5   7.0      Snapshot          authorization',
      ' 6   7.8      Authz           ! denied (0 allow, 0 deny, 0 …',
      '▸7   9.0      Body              response, 7 bytes',
      ' 8   13.0     Request Done    + request finished status=403…',
      '',
    ])
    expect(lines.at(-1)).toMatch(/^ ↑↓ move {2}tab pane .*\? help {2}q quit$/)
  })

  it('shows a body as JSON', () => {
    const details = drawn(view('k')).map((line) => line.split('│')[1]?.trim())
    expect(details).toContain('stage: response')
    expect(details).toContain('a: 1')
    expect(drawn(view('kf')).join('\n')).toContain('"type": "bodySnapshot"')
  })

  it('shows what changed between two snapshots', () => {
    const details = drawn(view('kkkd')).flatMap((line) => line.split('│')[1]?.trim() ?? [])
    expect(details.filter((line) => line !== '')).toEqual([
      'event   snapshot  (diff) yaml',
      '# initial request → authorization',
      '- /request/path: "/admin"',
      '+ /request/path: "/"',
      '- /request/headers/x-old: "1"',
      '+ /request/headers/x-new: "2"',
    ])
    expect(drawn(view('s')).join('\n')).toContain('# authorization')
  })

  it('names the first snapshot, and the time before it', () => {
    const second = { ...view('d'), selected: 1 }
    expect(drawn(second).join('\n')).toContain('# initial request: the first snapshot')
    expect(drawn({ ...second, selected: 0 }).join('\n')).toContain('no snapshot yet')
  })

  it.each([
    [SIZE, false],
    [SIZE, true],
    [{ columns: 80, rows: 24 }, true],
    [{ columns: 60, rows: 6 }, true],
    [{ columns: 200, rows: 50 }, true],
  ])('fills the terminal exactly: %j, colour %s', (size, hasColour) => {
    for (const shown of [view('', size), view('?', size), view('/x', size), firstView(paneRows(size), 'connecting')]) {
      const lines = drawn(shown, { size, hasColour })
      expect(lines).toHaveLength(size.rows)
      expect(lines.map((line) => stringWidth(line))).toEqual(lines.map(() => size.columns))
    }
  })

  it('uses colours only where they are allowed', () => {
    expect(drawn(view()).join('')).not.toContain('\u001b')
    expect(drawn(view(), { hasColour: true }).join('')).toContain('\u001b[31m')
  })

  it('shows one pane in a narrow terminal, and a message in a tiny one', () => {
    const size = { columns: 60, rows: 12 }
    expect(drawn(view('', size), { size }).join('')).not.toContain('│')
    const tab = pressed(view('', size), { name: 'tab', text: '\t', isControl: false })
    expect(drawn(tab, { size })[1]).toContain('(event)')
    const tiny = drawn(view(), { size: { columns: 30, rows: 5 } })
    expect(tiny.map((line) => line.trim())).toEqual(['The terminal needs 40 columns…'])
  })

  it('lists the keys, and the text of a search', () => {
    expect(drawn(view('?')).join('\n')).toContain('search in all events')
    expect(drawn(view('/abc')).at(-1)?.trimEnd()).toBe(' /abc')
  })
})

describe('fit', () => {
  it.each([
    ['abc', 5, 'abc  '],
    ['abcdef', 4, 'abc…'],
    ['日本語', 4, '日… '],
    ['👩‍👩‍👧x', 2, '… '],
    ['abc', 0, ''],
  ])('%s in %i columns', (text, columns, expected) => {
    expect(fit(text, columns)).toBe(expected)
  })
})
