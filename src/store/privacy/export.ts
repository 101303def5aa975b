import { type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { customerRecord } from '../customers/customers.ts'
import { localTime } from '../lists/change-timestamp.ts'
import type { Page, PageRequest } from '../lists/page.ts'
import { emailsOf } from '../mail/mails.ts'
import { ecommerceItemsOf, mappingHistory } from '../mappings/customers.ts'
import { arrayOf, orderPage } from '../orders/orders.ts'
import { returnPage } from '../orders/returns.ts'
import { transactionPage } from '../orders/transactions.ts'
import { rewardAccount } from '../rewards/rewards.ts'

/**
 * Everything that is kept of a person, as JSON text (`PersonalData`): also of one who has left the list. Undefined where nothing was ever
 * kept, and after an erasure.
 */
export async function personalData(db: Db, service: Service, id: string): Promise<{ record: string } | undefined> {
  const customer = await customerRecord(db, service, id)
  const isFormer = await db.row(
    sql`select true as former from former_customer where service_id = ${service.id} and id = ${id}`,
  )
  if (!customer && !isFormer) return
  const orders = await whole(asked => orderPage(db, service, { customerId: id }, asked))
  const orderIds = await db.rows<{ id: string }>(sql`
    select o.id from sales_order o where o.service_id = ${service.id} and o.customer_id = ${id}
       and exists (select from sales_return r where r.service_id = o.service_id and r.order_id = o.id) order by placed_at desc`)
  const returns: string[] = []
  for (const { id: orderId } of orderIds)
    returns.push(...(await whole(asked => returnPage(db, service, { orderId }, asked))))
  const transactions = await whole(asked => transactionPage(db, service, { customerId: id }, asked))
  const account = await rewardAccount(db, service, { customerId: id })
  const { consent, vouchers, ecommerce, issues, fixes } = (await besides(db, service, id)) ?? {}
  return {
    record: `{"customer":${customer?.record ?? 'null'},"consent":${consent},"orders":[${orders}],"returns":[${returns}],"transactions":[${transactions}],"rewardAccount":${account?.record ?? 'null'},"vouchers":${vouchers},"ecommerce":${ecommerce},"mappingIssues":${issues},"mappingFixes":${fixes}}`,
  }
}

/** All pages of a list, each as its records joined by commas. */
async function whole(page: (asked: PageRequest) => Promise<Page>): Promise<string[]> {
  const found: string[] = []
  for (let asked: PageRequest = { limit: 100 }; ; ) {
    const { records, asOf, position, hasNextPage, end } = await page(asked)
    found.push(...records)
    if (!hasNextPage || !end) return found
    asked = { limit: 100, asOf, position, after: end }
  }
}

/** Returns consent, vouchers bought or received, platform items, mapping issues and fixes, each as a JSON array. */
const besides = (db: Db, service: Service, id: string) => {
  const { issues, fixes } = mappingHistory(service, id)
  return db.row<Record<'consent' | 'vouchers' | 'ecommerce' | 'issues' | 'fixes', string>>(sql`
    with c as (select * from customer where service_id = ${service.id} and id = ${id})
    select ${arrayOf(sql`
             select ${localTime(sql`changed_at`, service)} as at, channel, old_value as "oldValue", new_value as "newValue", username, request_id as "requestId"
               from consent_change where service_id = ${service.id} and customer_id = ${id} order by change_number`)}::text as consent,
           ${arrayOf(sql`
             select number, order_number as "orderNumber", sender_name as "senderName", receiver_name as "receiverName", receiver_email as "receiverEmail",
                    mobile, delivery_date as "deliveryDate", billing_address as "billingAddress", ${localTime(sql`created_at`, service)} as "createdAt",
                    ${emailsOf(service, sql`number`)} as emails
               from voucher_sale
              where service_id = ${service.id}
                and (lower(normalize(receiver_email, NFC)) = (select lower(normalize(email, NFC)) from c)
                     or (lower(sender_name), lower(billing_address->>'addressLine1')) = (select lower(concat_ws(' ', firstname, surname)), lower(address_line1) from c)
                     or order_number in (select order_number from sales_order where service_id = ${service.id} and customer_id = ${id}))
              order by created_at, number`)}::text as vouchers,
           ${arrayOf(ecommerceItemsOf(service, id))}::text as ecommerce, ${issues}::text as issues, ${fixes}::text as fixes`)
}
