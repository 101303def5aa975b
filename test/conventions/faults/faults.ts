import { access } from './access.ts'
import { backOffice } from './back-office.ts'
import { bodies } from './bodies.ts'
import { deliveries } from './deliveries.ts'
import { keys } from './keys.ts'
import { lists } from './lists.ts'
import { machine } from './machine.ts'
import { operation } from './operation.ts'
import { privacy } from './privacy.ts'
import { returns } from './returns.ts'
import { transport } from './transport.ts'
import { vouchers } from './vouchers.ts'

/** All faults, in the order of their numbers. */
export const faultSections = [
  keys,
  vouchers,
  returns,
  lists,
  backOffice,
  deliveries,
  machine,
  access,
  transport,
  bodies,
  privacy,
  operation,
] as const
