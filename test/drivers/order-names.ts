import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertProblem } from '../support/problem.ts'
import { post } from '../support/write.ts'
import { placeOrder, postOrder } from './sales.ts'
import type { Shop } from './shop.ts'

/** Contract of finding an order by identifier or number, the same for every driver. */
export function addOrderNameContract(shop: () => Shop) {
  test('an order is found by identifier first, then by number', async () => {
    const { api, release, driver } = shop()
    const orderNumber = `N/${release} ü`
    const { id } = await placeOrder(shop(), 1, { orderNumber })
    const { data } = (await api.get(`/orders/${id}`)).json
    assert.equal(data.orderNumber, orderNumber)
    const number = encodeURIComponent(orderNumber)
    assert.deepEqual((await api.get(`/orders/${number}`)).json.data, data)
    for (const path of ['returns', 'returnable'])
      assert.deepEqual(
        (await api.get(`/orders/${number}/${path}`)).json.data,
        (await api.get(`/orders/${id}/${path}`)).json.data,
      )
    assert.deepEqual((await api.get(`/orders?order_number=${number}`)).json.data, [data])
    assert.deepEqual((await api.get('/orders?order_number=NOBODYS')).json.data, [])
    assertProblem(await api.get('/orders'), 'invalid_parameter', api.baseUrl)
    for (const path of ['', '/returns', '/returnable'])
      assertProblem(await api.get(`/orders/NOBODYS${path}`), 'not_found', api.baseUrl)
    const otherService = await api.createService()
    for (const name of [id, number]) assertProblem(await otherService.get(`/orders/${name}`), 'not_found', api.baseUrl)
    assert.deepEqual((await otherService.get(`/orders?order_number=${number}`)).json.data, [])
    // Order identifiers of the embedded driver are longer than an order number can be.
    if (driver === 'embedded') return
    const other = await placeOrder(shop(), 1, { orderNumber: id })
    assert.equal((await api.get(`/orders/${id}`)).json.data.id, id)
    assert.equal((await api.get(`/orders?order_number=${id}`)).json.data[0].id, other.id)
  })

  test('an address can contain a contact and a company', async () => {
    const { api, simulator, driver } = shop()
    const requiredFields = { addressLine1: '111 Collins St', city: 'Melbourne', country: 'Australia' }
    const billingAddress = { ...requiredFields, contactName: 'Jane Smith', companyName: 'Luma & Sons' }
    const deliveryAddress = { ...requiredFields, contactName: '', companyName: 'c'.repeat(50) }
    const { id } = await placeOrder(shop(), 1, { billingAddress, deliveryAddress })
    const { data } = (await api.get(`/orders/${id}`)).json
    assert.deepEqual([data.billingAddress.contactName, data.billingAddress.companyName], ['Jane Smith', 'Luma & Sons'])
    assert.deepEqual([data.deliveryAddress.contactName, data.deliveryAddress.companyName.length], [null, 50])
    const long = { ...requiredFields, contactName: 'x'.repeat(51), companyName: 'x'.repeat(51) }
    const rejected = await postOrder(shop(), 1, { billingAddress: long })
    assert.deepEqual(
      rejected.json.errors.map(({ pointer }: { pointer: string }) => pointer),
      ['/billingAddress/contactName', '/billingAddress/companyName'],
    )
    const gift = {
      amount: '20.00',
      receiverName: 'Ann Lee',
      receiverEmail: 'ann.lee@example.com',
      senderName: 'John Smith',
      subject: 'A gift for you',
      billingAddress: { ...billingAddress, addressLine1: '' },
    }
    assert.equal((await post(api, '/vouchers', gift)).status, driver === 'embedded' ? 201 : 202)
    if (driver === 'embedded') return
    const upstreamOrder = simulator.state.orders.get(Number(id))
    assert.deepEqual(
      [upstreamOrder?.billing.contactName, upstreamOrder?.billing.companyName],
      ['Jane Smith', 'Luma & Sons'],
    )
    // The recipient defaults to the customer.
    assert.ok(upstreamOrder?.delivery.contactName)
    assert.equal(upstreamOrder?.delivery.companyName.length, 50)
  })
}
