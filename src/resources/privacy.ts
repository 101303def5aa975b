import { Erasure } from '../domain/customers/erasure.ts'
import { PersonalData } from '../domain/privacy/personal-data.ts'
import { notFound } from '../errors/api-error.ts'
import { EmptyBody } from '../http/body/body.ts'
import { del, get } from '../http/routing/route-definitions.ts'
import { exportPersonalData } from '../store/privacy/export.ts'
import { mapCommitPhase } from '../writes/write.ts'
import { customerParams } from './customers.ts'

const tag = 'Privacy'
const role = 'admin'

/** Export and erasure of personal data (docs/operate/privacy-requests.md). */
export const privacy = [
  del(
    '/customers/:id',
    {
      operationId: 'eraseCustomer',
      tag,
      role,
      summary: 'Erase a customer',
      description:
        "Can't be undone. Deletes contact, address, references, consent, reward account and stored responses at once. Orders, returns, sales and vouchers keep their amounts and lose the names shortly after: repeat the request to see `status`. Voucher emails that are still queued aren't sent, and orders that aren't shipped yet lose their address. If the back office can't erase customers: 409 `capability_unavailable`.",
      params: customerParams,
      body: EmptyBody,
      response: Erasure,
      errors: ['capability_unavailable', 'precondition_failed'],
    },
    async ({ params, backOffice, ...write }) =>
      mapCommitPhase(await backOffice.eraseCustomer(write, params.id), erasure => {
        if (!erasure) throw notFound('customer')
        return { data: erasure, subject: `/customers/${encodeURIComponent(params.id)}` }
      }),
  ),

  get(
    '/customers/:id/export',
    {
      operationId: 'exportCustomer',
      tag,
      role,
      summary: "Export a customer's data",
      description:
        'One document with all stored data of the person. For a removed customer, it contains the data that is still stored. An erased customer returns 404.',
      params: customerParams,
      response: PersonalData,
      recordName: 'customer',
    },
    ({ db, service, params }) => exportPersonalData(db, service, params.id),
  ),
]
