import { t } from './text.js'

/** The states of all kinds of records. @type {Record<string, string>} */
const names = {
  active: t('active'),
  cancelled: t('cancelled'),
  completed: t('completed'),
  due: t('due'),
  expired: t('expired'),
  failed: t('failed'),
  failing: t('failing'),
  held: t('held'),
  inFlight: t('in flight'),
  inStep: t('in step'),
  interrupted: t('interrupted'),
  locked: t('locked'),
  ok: t('ok'),
  paused: t('paused'),
  pending: t('pending'),
  processing: t('processing'),
  queued: t('queued'),
  received: t('received'),
  redeemed: t('redeemed'),
  refunded: t('refunded'),
  requested: t('requested'),
  returned: t('returned'),
  running: t('running'),
  sent: t('sent'),
  shipped: t('shipped'),
  suspended: t('suspended'),
}

/** Returns the name of a state of the API. Returns another value unchanged. @param {any} state */
export const nameState = state => (typeof state === 'string' && Object.hasOwn(names, state) ? names[state] : state)

/** Returns the name of a back office: `apparel21` is Apparel21. @param {string | null | undefined} driver */
export const nameDriver = driver => (driver === 'apparel21' ? 'Apparel21' : driver)
