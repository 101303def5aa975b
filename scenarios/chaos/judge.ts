import { setTimeout as delay } from 'node:timers/promises'
import { sql } from '../../src/database/db.ts'
import { jobs } from '../../src/jobs/jobs.ts'
import { retryMails, sendMailJob } from '../../src/store/mail/mails.ts'
import { ofVouchers } from '../support/ledgers.ts'
import { type Verdict, verdict } from '../support/verdict.ts'
import { among, factsOf } from './facts.ts'
import type { Shop } from './shoppers.ts'
import type { World } from './world.ts'

/** Holds what clients were told against what the database and the mail server have. */
export async function judge(world: World, shop: Shop, seen: ReadonlySet<string>): Promise<Verdict[]> {
  const { db, service, mails, workers, log } = world
  const id = service.id
  const { made, noneOf, writes } = factsOf(db, id, shop)
  const mailed = await untilMailed(world)

  const vouchers = made('voucher').map(({ key, answer: { data } }) => ({ key, number: data?.number, pin: data?.pin }))
  const mailsOf = Map.groupBy(mails, mail => mail.subject)
  const extra = mails.length - mailsOf.size
  const kills = workers.reduce((sum, { deaths }) => sum + deaths.length, 0)
  const mailsAtOnce = jobs[sendMailJob]?.concurrency ?? 0

  return [
    ...(await writes(
      seen,
      sql`select order_number as key, count(*)::integer as count from voucher_sale where service_id = ${id} group by 1`,
    )),
    ...(await noneOf(ofVouchers(id))),
    verdict(
      'each acknowledged voucher was mailed, with its number and PIN',
      vouchers
        .filter(
          ({ key, number, pin }) =>
            !number || !pin || !mailsOf.get(key)?.every(mail => mail.text.includes(number) && mail.text.includes(pin)),
        )
        .map(voucher => voucher.key),
      among(vouchers.length),
    ),
    verdict(
      'no mail without a voucher',
      [...mailsOf.keys()].filter(key => !vouchers.some(voucher => voucher.key === key)),
    ),
    verdict(
      'all mails of a voucher carry one Message-ID',
      [...mailsOf].filter(([, of]) => new Set(of.map(mail => mail.messageId)).size !== 1).map(([key]) => key),
    ),
    verdict(
      'a worker that was killed mailed no more than what it was at a second time',
      extra <= kills * mailsAtOnce ? [] : [`${extra} more`],
      among(kills),
    ),
    verdict('the mails went out within 60 s of the last kill', mailed ? [] : ['some are still waiting']),
    verdict('nothing unexpected was logged', log.filter(line => /internal_error|unhandled/i.test(line)).slice(0, 3)),
  ]
}

/** Waits until no mail waits any longer; not for ever. One that the server refused is not the kills' fault: it is tried again, as an operator would. */
async function untilMailed({ db, service }: World) {
  for (const end = performance.now() + 60_000; performance.now() < end; await delay(200)) {
    const waiting = await db
      .rows<{ id: string; refused: boolean }>(
        sql`select email_id as id, last_error is not null as refused from email where service_id = ${service.id} and status <> 'sent'`,
      )
      .catch(() => undefined)
    if (waiting?.length === 0) return true
    const refused = waiting?.filter(each => each.refused) ?? []
    for (const { id } of refused) await retryMails(db, service, id).catch(() => {})
  }
  return false
}
