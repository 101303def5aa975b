import { type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { findCustomer } from '../customers/customers.ts'
import { localTime } from '../lists/change-timestamp.ts'
import type { Page, PageRequest } from '../lists/page.ts'
import { selectVoucherEmails } from '../mail/emails.ts'
import { selectEcommerceItems, selectMappingHistory } from '../mappings/customers.ts'
import { jsonArray, readOrderPage } from '../orders/orders.ts'
import { readReturnPage } from '../orders/returns.ts'
import { readTransactionPage } from '../orders/transactions.ts'
import { findRewardAccount } from '../rewards/rewards.ts'

/**
 * Returns all data of a person as JSON (`PersonalData`), including former customers. Returns undefined if the ID was never used or the
 * customer was erased.
 */
export async function exportPersonalData(
  db: Db,
  service: Service,
  id: string,
): Promise<{ record: string } | undefined> {
  const customer = await findCustomer(db, service, id)
  const isFormer = await db.row(
    sql`select true as former from former_customer where service_id = ${service.id} and id = ${id}`,
  )
  if (!customer && !isFormer) return
  const orders = await readAllPages(request => readOrderPage(db, service, { customerId: id }, request))
  const orderIds = await db.rows<{ id: string }>(sql`
    select o.id from sales_order o where o.service_id = ${service.id} and o.customer_id = ${id}
       and exists (select from sales_return r where r.service_id = o.service_id and r.order_id = o.id) order by placed_at desc`)
  const returns: string[] = []
  for (const { id: orderId } of orderIds)
    returns.push(...(await readAllPages(request => readReturnPage(db, service, { orderId }, request))))
  const transactions = await readAllPages(request => readTransactionPage(db, service, { customerId: id }, request))
  const account = await findRewardAccount(db, service, { customerId: id })
  const { consent, vouchers, ecommerce, issues, fixes } = (await readOtherData(db, service, id)) ?? {}
  return {
    record: `{"customer":${customer?.record ?? 'null'},"consent":${consent},"orders":[${orders}],"returns":[${returns}],"transactions":[${transactions}],"rewardAccount":${account?.record ?? 'null'},"vouchers":${vouchers},"ecommerce":${ecommerce},"mappingIssues":${issues},"mappingFixes":${fixes}}`,
  }
}

/** Reads all pages of a list. Each page is a string of records joined by commas. */
async function readAllPages(page: (request: PageRequest) => Promise<Page>): Promise<string[]> {
  const pages: string[] = []
  for (let request: PageRequest = { limit: 100 }; ; ) {
    const { records, asOf, position, hasNextPage, end } = await page(request)
    pages.push(...records)
    if (!hasNextPage || !end) return pages
    request = { limit: 100, asOf, position, after: end }
  }
}

/** Returns consent, vouchers bought or received, platform items, mapping issues and fixes, each as a JSON array. */
const readOtherData = (db: Db, service: Service, id: string) => {
  const { issues, fixes } = selectMappingHistory(service, id)
  return db.row<Record<'consent' | 'vouchers' | 'ecommerce' | 'issues' | 'fixes', string>>(sql`
    with c as (select * from customer where service_id = ${service.id} and id = ${id})
    select ${jsonArray(sql`
             select ${localTime(sql`changed_at`, service)} as at, channel, old_value as "oldValue", new_value as "newValue", username, request_id as "requestId"
               from consent_change where service_id = ${service.id} and customer_id = ${id} order by change_number`)}::text as consent,
           ${jsonArray(sql`
             select number, order_number as "orderNumber", sender_name as "senderName", receiver_name as "receiverName", receiver_email as "receiverEmail",
                    mobile, delivery_date as "deliveryDate", billing_address as "billingAddress", ${localTime(sql`created_at`, service)} as "createdAt",
                    ${selectVoucherEmails(service, sql`number`)} as emails
               from voucher_sale
              where service_id = ${service.id}
                and (lower(normalize(receiver_email, NFC)) = (select lower(normalize(email, NFC)) from c)
                     or (lower(sender_name), lower(billing_address->>'addressLine1')) = (select lower(concat_ws(' ', firstname, surname)), lower(address_line1) from c)
                     or order_number in (select order_number from sales_order where service_id = ${service.id} and customer_id = ${id}))
              order by created_at, number`)}::text as vouchers,
           ${jsonArray(selectEcommerceItems(service, id))}::text as ecommerce, ${issues}::text as issues, ${fixes}::text as fixes`)
}
