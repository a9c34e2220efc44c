import LoopCollections

/// A collection or an optional. Its shape follows from its element's, and without a document it is empty.
protocol ProbedCollection: Decodable {
    static func probe(
        _ session: ProbeSession, _ base: (any Decoder)?, _ path: [CBORPath.Step]
    ) throws -> (value: Any, shape: TypeShape)
}

extension ProbeSession {
    /// Reads the elements of an array.
    fileprivate func elements<Element: Decodable>(
        _ type: Element.Type, _ base: any Decoder, _ path: [CBORPath.Step]
    ) throws -> ([Element], TypeShape) {
        var container = try base.unkeyedContainer()
        var (values, shape) = ([Element](), TypeShape?.none)
        while !container.isAtEnd {
            let place = path + [CBORPath.Step(index: container.currentIndex)]
            let (value, next) = try read(type, from: try container.superDecoder(), at: place)
            values.append(value)
            shape = shape.map { $0.merged(with: next) } ?? next
        }
        return (values, shape ?? self.shape(of: type))
    }
}

extension Array: ProbedCollection where Element: Decodable {
    static func probe(
        _ session: ProbeSession, _ base: (any Decoder)?, _ path: [CBORPath.Step]
    ) throws -> (value: Any, shape: TypeShape) {
        if Element.self is UInt8.Type {
            return (try base?.singleValueContainer().decode(Self.self) ?? [], .value("bytes"))
        }
        guard let base else { return (Self(), .array(session.shape(of: Element.self))) }
        let (values, shape) = try session.elements(Element.self, base, path)
        return (values, .array(shape))
    }
}

extension Set: ProbedCollection where Element: Decodable {
    static func probe(
        _ session: ProbeSession, _ base: (any Decoder)?, _ path: [CBORPath.Step]
    ) throws -> (value: Any, shape: TypeShape) {
        guard let base else { return (Self(), .array(session.shape(of: Element.self))) }
        let (values, shape) = try session.elements(Element.self, base, path)
        return (Set(values), .array(shape))
    }
}

extension Dictionary: ProbedCollection where Key: Decodable, Value: Decodable {
    static func probe(
        _ session: ProbeSession, _ base: (any Decoder)?, _ path: [CBORPath.Step]
    ) throws -> (value: Any, shape: TypeShape) {
        let keys = session.shape(of: Key.self)
        func shape(_ value: TypeShape?) -> TypeShape {
            .map(key: keys, value: value ?? session.shape(of: Value.self))
        }
        guard let base else { return (Self(), shape(nil)) }
        // Its keys are whatever they encode to. If they are no text, the values are not probed.
        guard Key.self is String.Type else {
            return (try base.singleValueContainer().decode(Self.self), shape(nil))
        }
        let container = try base.container(keyedBy: ProbeSession.AnyKey.self)
        var (values, common) = (Self(), TypeShape?.none)
        for key in container.allKeys {
            let (value, next) = try session.read(
                Value.self, from: try container.superDecoder(forKey: key),
                at: path + [CBORPath.Step(stringValue: key.stringValue)])
            if let key = key.stringValue as? Key { values[key] = value }
            common = common.map { $0.merged(with: next) } ?? next
        }
        return (values, shape(common))
    }
}

extension TrackedDictionary: ProbedCollection where Key: Decodable, Value: Decodable {
    static func probe(
        _ session: ProbeSession, _ base: (any Decoder)?, _ path: [CBORPath.Step]
    ) throws -> (value: Any, shape: TypeShape) {
        var keys = session.shape(of: Key.self)
        var values = session.shape(of: Value.self)
        guard let base else { return (Self(), .tracked(key: keys, value: values)) }
        var container = try base.unkeyedContainer()
        while !container.isAtEnd {
            func next<Part: Decodable>(_ type: Part.Type, _ shape: inout TypeShape) throws {
                let place = path + [CBORPath.Step(index: container.currentIndex)]
                shape = shape.merged(with: try session.read(type, from: try container.superDecoder(), at: place).shape)
            }
            try next(Key.self, &keys)
            try next(Value.self, &values)
        }
        return (try Self(from: base), .tracked(key: keys, value: values))
    }
}

extension Optional: ProbedCollection where Wrapped: Decodable {
    static func probe(
        _ session: ProbeSession, _ base: (any Decoder)?, _ path: [CBORPath.Step]
    ) throws -> (value: Any, shape: TypeShape) {
        guard let base else { return (Self.none as Any, .optional(session.shape(of: Wrapped.self))) }
        let container = try base.singleValueContainer()
        if container.decodeNil() { return (Self.none as Any, .optional(session.shape(of: Wrapped.self))) }
        // An optional of an optional is in an array.
        if Wrapped.self is any CBOROptional.Type {
            return (try container.decode(Self.self) as Any, .optional(session.shape(of: Wrapped.self)))
        }
        let (value, shape) = try session.read(Wrapped.self, from: base, at: path)
        return (Self.some(value) as Any, .optional(shape))
    }
}
