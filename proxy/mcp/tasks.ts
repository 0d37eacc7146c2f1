// Ids of tasks in messages of one of several servers (MCP 2025-11-25 and the extension of 2026-07-28): in results, in
// notifications, and in the `_meta` of messages that belong to a task.
import { isRecord, type JsonRecord } from '#api/json.ts'
import type { Naming } from './names.ts'

const RELATED_TASK = 'io.modelcontextprotocol/related-task'

/** A result or params of a server, for the client. */
export function withShownTasks(naming: Naming, target: string, value: JsonRecord): JsonRecord {
  return withTasks(value, (id) => naming.showTask(target, id))
}

/** A result or params of the client, for a server; ids of tasks of another server are removed with their `_meta`. */
export function withOwnTasks(naming: Naming, target: string, value: JsonRecord): JsonRecord {
  if (!naming.hasUriTargets) return value
  return withTasks(value, (id) => {
    const located = naming.locateTask(id)
    return located?.target === target ? located.name : undefined
  })
}

/** A task in `task`, one whose fields are those of the value, or one that the value relates to. */
function withTasks(value: JsonRecord, change: (id: string) => string | undefined): JsonRecord {
  const changed = isTask(value) ? withTaskId(value, change) : value
  const { task, _meta: meta } = changed
  const related = isRecord(meta) ? meta[RELATED_TASK] : undefined
  return {
    ...changed,
    ...(isRecord(task) && { task: withTaskId(task, change) }),
    ...(isRecord(meta) && isRecord(related) && { _meta: { ...meta, [RELATED_TASK]: withTaskId(related, change) } }),
  }
}

/** Every task has a status; a value of a tool may have any field. */
function isTask(value: JsonRecord): boolean {
  return typeof value['taskId'] === 'string' && typeof value['status'] === 'string'
}

function withTaskId(value: JsonRecord, change: (id: string) => string | undefined): JsonRecord {
  const { taskId, ...others } = value
  const changed = typeof taskId === 'string' ? change(taskId) : undefined
  return changed === undefined ? others : { ...others, taskId: changed }
}
