import { Erasure } from '../domain/customers/erasure.ts'
import { PersonalData } from '../domain/privacy/personal-data.ts'
import { notFound } from '../errors/api-error.ts'
import { NoBody } from '../http/body/body.ts'
import { del, get } from '../http/routing/route-definitions.ts'
import { personalData } from '../store/privacy/export.ts'
import { after } from '../writes/write.ts'
import { ofCustomer } from './customers.ts'

const tag = 'Privacy'
const role = 'admin'

/** What is kept of a person, and having it erased (contract 15; docs/operate/privacy-requests.md). */
export const privacy = [
  del(
    '/customers/:id',
    {
      operationId: 'eraseCustomer',
      tag,
      role,
      summary: 'Erase a customer',
      description:
        'The customer leaves at once, and cannot be brought back: contact, address, references, consent, reward account, what is stored of earlier answers. Orders, returns, sales and vouchers keep their sums, and lose whoever they name, within moments: `status` of a repeat says when. A gift voucher that waits to be sent is not sent any more, and an order that waits to be shipped has no address any more. With a back office that cannot erase: 409.',
      params: ofCustomer,
      body: NoBody,
      answer: Erasure,
      errors: ['capability_unavailable', 'precondition_failed'],
    },
    async ({ params, backOffice, ...write }) =>
      after(await backOffice.eraseCustomer(write, params.id), erasure => {
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
        'As one document, to be handed to the person. Of a customer who has left the list it is what is kept of them still; of one who was erased there is none.',
      params: ofCustomer,
      answer: PersonalData,
      kind: 'customer',
    },
    ({ db, service, params }) => personalData(db, service, params.id),
  ),
]
