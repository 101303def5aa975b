/** The crash points between two effects at which a test can kill or halt the process. */
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
  'rows_upgraded',
  'older_data_moved',
  'service_copied',
  'service_compared',
  'service_drained',
  'service_paused',
  'service_moved_away',
  'service_switch_recorded',
  'service_switched',
  'service_opened',
  'service_rows_replaced',
  'service_restored',
  'before_set_on_hand',
  'after_set_on_hand',
  'before_record_result',
  'during_bulk',
  'secret_rotation_begun',
  'secret_value_reencrypted',
] as const
export type Failpoint = (typeof failpoints)[number]

let armedFailpoint: { name: string; effect: string | undefined } | undefined

/** Arms one failpoint: `name` kills the process, `name:stop` halts it until SIGCONT, `name:fail` throws. By default none is armed. */
export function armFailpoint(setting: string | undefined) {
  if (setting === undefined) return
  const [name = '', effect] = setting.split(':')
  armedFailpoint = { name, effect }
}

/** Marks a point at which a crash leaves one effect applied and the next one not. Kills, halts or throws if it is armed. */
export function failpoint(name: Failpoint) {
  if (armedFailpoint?.name !== name) return
  const { effect } = armedFailpoint
  armedFailpoint = undefined
  if (effect === 'fail') throw new Error(`Failpoint ${name} threw this error.`)
  process.kill(process.pid, effect === 'stop' ? 'SIGSTOP' : 'SIGKILL')
}
