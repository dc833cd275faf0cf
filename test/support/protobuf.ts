/** The values of a field in their order: numbers, or the bytes of strings and messages. */
export type ProtobufMessage = Map<number, (bigint | Buffer)[]>;

/** Decodes a protocol buffers message into fields by number. Throws a RangeError if it is truncated. */
export function decodeProtobuf(bytes: Buffer): ProtobufMessage {
  const fields: ProtobufMessage = new Map();
  let at = 0;
  const varint = (): bigint => {
    for (let value = 0n, shift = 0n; ; shift += 7n) {
      const byte = bytes.readUInt8(at++);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const take = (length: number): Buffer => {
    if (at + length > bytes.length) throw new RangeError('a field goes beyond its message');
    at += length;
    return bytes.subarray(at - length, at);
  };
  const valueOf = (wireType: number): bigint | Buffer => {
    if (wireType === 0) return varint();
    if (wireType === 1) return take(8).readBigUInt64LE();
    if (wireType === 2) return take(Number(varint()));
    if (wireType === 5) return BigInt(take(4).readUInt32LE());
    throw new RangeError(`there is no wire type ${wireType}`);
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const value = valueOf(tag & 7);
    fields.set(tag >> 3, [...(fields.get(tag >> 3) ?? []), value]);
  }
  return fields;
}

export function messagesIn(message: ProtobufMessage, field: number): ProtobufMessage[] {
  return (message.get(field) ?? []).map((value) => decodeProtobuf(value as Buffer));
}

export function bytesIn(message: ProtobufMessage, field: number): Buffer {
  return (message.get(field)?.[0] as Buffer | undefined) ?? Buffer.alloc(0);
}

export function textIn(message: ProtobufMessage, field: number): string {
  return bytesIn(message, field).toString('utf8');
}

export function numberIn(message: ProtobufMessage, field: number): bigint {
  return (message.get(field)?.[0] as bigint | undefined) ?? 0n;
}
