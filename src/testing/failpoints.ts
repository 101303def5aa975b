/** The borders between two effects at which a test may have the process killed or stopped. */
export const failpoints = [
  'before_effect',
  'after_claim',
  'before_upstream',
  'after_upstream',
  'after_effect',
  'before_commit',
  'after_commit',
  'before_smtp',
  'after_smtp',
  'before_mark_sent',
  'before_post',
  'after_post',
  'after_stale_stock',
  'rows_carried_over',
  'older_data_moved',
  'service_copied',
  'service_compared',
  'service_drained',
  'service_shut',
  'service_let_go',
  'service_switched',
  'service_opened',
] as const
export type Failpoint = (typeof failpoints)[number]

let armedFailpoint: { name: string; how: string | undefined } | undefined

/** Arms one failpoint: `name` kills the process there, `name:stop` halts it until SIGCONT, `name:fail` throws. Without this call there are none. */
export function armFailpoint(setting: string | undefined) {
  if (setting === undefined) return
  const [name = '', how] = setting.split(':')
  armedFailpoint = { name, how }
}

/** Where a crash would leave one effect done and the next one not. */
export function failpoint(name: Failpoint) {
  if (armedFailpoint?.name !== name) return
  const { how } = armedFailpoint
  armedFailpoint = undefined
  if (how === 'fail') throw new Error(`It was made to fail at ${name}.`)
  process.kill(process.pid, how === 'stop' ? 'SIGSTOP' : 'SIGKILL')
}
