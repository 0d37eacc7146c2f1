import { describe, expect, it } from 'vitest'
import type { TraceEvent } from '../trace/event-reader.ts'
import { EVENTS } from './events.testing.ts'
import { firstView, type Key, pressed, type View, withEvent } from './view.ts'

const ROWS = 3
const LAST = EVENTS.length - 1
const NAMED: ReadonlySet<string> = new Set(
  'tab up down left right pageup pagedown home end escape return backspace'.split(' '),
)

function view(events: readonly TraceEvent[] = EVENTS): View {
  return events.reduce(withEvent, firstView(ROWS, ''))
}

function key(name: string): Key {
  return { name: name.toLowerCase(), text: NAMED.has(name) ? '\u001b' : name, isControl: false }
}

/** After the keys, from a view with all events whose last one is selected. */
function after(...keys: readonly string[]): View {
  return keys.reduce((current, name) => pressed(current, key(name)), view())
}

describe('keys of the list', () => {
  it.each([
    [[], LAST],
    [['up'], LAST - 1],
    [['k', 'k'], LAST - 2],
    [['up', 'down'], LAST],
    [['up', 'j'], LAST],
    [['down'], LAST],
    [['home'], 0],
    [['home', 'up'], 0],
    [['home', 'pagedown'], ROWS],
    [['pageup'], LAST - ROWS],
    [['home', 'end'], LAST],
  ])('%j selects event %i', (keys, index) => {
    expect(after(...keys).selected).toBe(index)
  })

  it('follows new events while the last one is selected', () => {
    const [first, second, third] = EVENTS
    if (first === undefined || second === undefined || third === undefined) throw new Error('events are missing')
    const following = [first, second].reduce(withEvent, firstView(ROWS, ''))
    expect(following.selected).toBe(1)
    const [other] = [pressed(following, key('up'))]
    expect(withEvent(other, third).selected).toBe(0)
    expect(withEvent(pressed(following, key('tab')), third).selected).toBe(1)
  })

  it('bounds the number of events', () => {
    const [event] = EVENTS
    if (event === undefined) throw new Error('events are missing')
    const full = { ...view(), events: Array.from({ length: 5000 }, () => event) }
    expect(withEvent(full, event)).toMatchObject({ status: 'only the first 5000 events are shown' })
    expect(withEvent(full, event).events).toHaveLength(5000)
  })
})

describe('keys of the details', () => {
  it.each([
    [['tab'], 'details'],
    [['tab', 'tab'], 'events'],
    [['right'], 'details'],
    [['right', 'left'], 'events'],
  ])('%j selects the pane of %s', (keys, pane) => {
    expect(after(...keys).pane).toBe(pane)
  })

  it.each([
    [[], 'event'],
    [['s'], 'snapshot'],
    [['d'], 'diff'],
    [['d', 'e'], 'event'],
  ])('%j selects the mode %s', (keys, mode) => {
    expect(after(...keys).mode).toBe(mode)
  })

  it('scroll within their lines, from the top of each event and mode', () => {
    const down = ['tab', 'down', 'down']
    expect(after(...down)).toMatchObject({ scroll: 2, selected: LAST })
    expect(after(...down, 'up').scroll).toBe(1)
    expect(after('tab', 'pagedown').scroll).toBe(ROWS)
    expect(after('tab', 'home', 'up').scroll).toBe(0)
    const end = after('tab', 'end').scroll
    expect(end).toBeGreaterThan(0)
    expect(after('tab', 'end', 'down').scroll).toBe(end)
    expect(after(...down, 's').scroll).toBe(0)
    expect(after(...down, 'tab', 'up').scroll).toBe(0)
  })

  it('switches between YAML and JSON', () => {
    expect([after('f').format, after('f', 'f').format]).toEqual(['json', 'yaml'])
  })
})

describe('search', () => {
  it('selects the next event that contains the text, and wraps around', () => {
    expect(after('/', 'D', 'e', 'm', 'o', 'return')).toMatchObject({ selected: 2, isSearching: false, search: 'Demo' })
    const snapshots = after('/', ...Array.from('snapshot'), 'return')
    expect(snapshots.selected).toBe(1)
    expect(pressed(snapshots, key('n')).selected).toBe(4)
    expect(pressed(snapshots, key('N')).selected).toBe(6)
  })

  it('takes keys of commands as text, and can be edited and left', () => {
    expect(after('/', 'q', 'd')).toMatchObject({ search: 'qd', hasQuit: false, mode: 'event', isSearching: true })
    expect(after('/', 'q', 'd', 'backspace').search).toBe('q')
    expect(after('/', 'q', 'escape')).toMatchObject({ isSearching: false, hasQuit: false })
    expect(after('/', 'tab', 'up')).toMatchObject({ search: '', pane: 'events', selected: LAST })
  })

  it('reports a text that no event contains', () => {
    expect(after('/', ...Array.from('absent'), 'return')).toMatchObject({
      selected: LAST,
      status: '"absent" not found',
    })
    expect(after('n').selected).toBe(LAST)
  })

  it('bounds the text', () => {
    expect(after('/', ...Array.from('a'.repeat(300))).search).toHaveLength(200)
  })
})

describe('help and quitting', () => {
  it('shows the help until the next key', () => {
    expect(after('?').hasHelp).toBe(true)
    expect(after('?', 'q')).toMatchObject({ hasHelp: false, hasQuit: false })
  })

  it.each([['q'], ['escape']])('%s quits', (name) => {
    expect(after(name).hasQuit).toBe(true)
  })

  it('ctrl-c quits, also while the user types', () => {
    const control = { name: 'c', text: '', isControl: true }
    expect(pressed(after('/'), control).hasQuit).toBe(true)
    expect(pressed(after(), control).hasQuit).toBe(true)
  })

  it('ignores other keys', () => {
    expect(after('x')).toEqual(after())
  })
})
